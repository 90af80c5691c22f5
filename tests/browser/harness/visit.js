/** Real Chromium, signed in, watched: a test fails when its page logs an error or breaks the security policy. */
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { Server } from "./server.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").BrowserContext} Context */

const PATIENCE_MS = 20_000;
const LAPTOP = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
});

/** The server that most tests share. */
export const server = await Server.start();

export async function closeAll() {
  await browser.close();
  await server.close();
}

/** @type {Map<string, Awaited<ReturnType<Context["cookies"]>>>} */
const cookies = new Map();

/**
 * The cookie of somebody who has followed a sign-in link.
 * @param {Server} at
 * @param {string} actor
 * @param {string} role
 */
export async function cookieOf(at, actor, role) {
  const key = `${at.port} ${actor} ${role}`;
  const known = cookies.get(key);
  if (known) return known;
  const context = await browser.newContext();
  await context.request.get(at.signInLink(actor, role));
  const made = await context.cookies();
  await context.close();
  cookies.set(key, made);
  return made;
}

/**
 * @typedef {object} Wish
 * @property {string} [actor]
 * @property {string} [role]
 * @property {string} [path]
 * @property {string} [dataset] chosen on an earlier visit
 * @property {"light" | "dark"} [scheme]
 * @property {{width: number, height: number}} [viewport]
 * @property {Server} [at]
 * @property {string} [url] where the page is reached, if not at the server itself
 * @property {RegExp} [expected] errors that belong to the test
 */

/**
 * Opens the page for one test and looks at it afterwards.
 * @param {Wish} wish
 * @param {(page: Page, context: Context) => Promise<void>} test
 */
export async function visit(wish, test) {
  const { actor = "ann", role = "analyst", path = "/", dataset = "sales", scheme = "light", viewport = LAPTOP, at = server } = wish;
  const url = wish.url ?? at.url;
  const context = await browser.newContext({
    colorScheme: scheme, viewport, baseURL: url, reducedMotion: "reduce", acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"], hasTouch: viewport === PHONE,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addCookies(await cookieOf(at, actor, role));
  await context.addInitScript((chosen) => localStorage.getItem("gatehouse.dataset") ?? localStorage.setItem("gatehouse.dataset", chosen), dataset);
  const page = await context.newPage();
  const problems = watch(page);
  try {
    await page.goto(path);
    await test(page, context);
    const unexpected = problems.filter((text) => !wish.expected?.test(text));
    assert.deepEqual(unexpected, [], "the page logs no error and breaks no security policy");
  } finally {
    await context.close();
  }
}

/** @param {Page} page */
function watch(page) {
  /** @type {string[]} */
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`));
  return problems;
}

/**
 * Asks and waits for what comes of it.
 * @param {Page} page
 * @param {string} question
 */
export async function ask(page, question) {
  const turns = await page.locator("article.turn").count();
  await page.locator("#question").fill(question);
  await page.locator("#question").press("Enter");
  const turn = page.locator("article.turn").nth(turns);
  await turn.and(page.locator('[aria-busy="false"]')).waitFor();
  return turn;
}
