/** Real Chromium, signed in, watched: a test fails when its page logs an error or breaks the security policy. */
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { Server } from "./server.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").BrowserContext} Context */

const PATIENCE_MS = 30_000;
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
 * @property {boolean} [fresh] a browser that was never here: nothing kept, nothing shared with other tests
 */

/**
 * Opens the page for one test and looks at it afterwards.
 * @param {Wish} wish
 * @param {(page: Page, context: Context) => Promise<void>} test
 */
export async function visit(wish, test) {
  const context = wish.fresh ? await contextFor(wish) : await sharedContext(wish);
  const page = await context.newPage();
  const problems = watch(page);
  try {
    await page.emulateMedia({ colorScheme: wish.scheme ?? "light", reducedMotion: "reduce" });
    await page.addInitScript(beginAnew, wish.dataset ?? "sales");
    await page.goto(wish.path ?? "/");
    await test(page, context);
    const unexpected = problems.filter((text) => !wish.expected?.test(text));
    assert.deepEqual(unexpected, [], "the page logs no error and breaks no security policy");
  } catch (error) {
    const seen = await page.locator("body").innerText({ timeout: 1000 }).catch(() => "nothing");
    console.error([`at ${page.url()}`, ...problems, "the page showed:", seen.slice(0, 1500)].join("\n"));
    throw error;
  } finally {
    await (wish.fresh ? context : page).close();
  }
}

/** What an earlier test has left in the browser is forgotten; what this one leaves survives its reloads. @param {string} dataset */
function beginAnew(dataset) {
  if (sessionStorage.getItem("begun")) return;
  localStorage.clear();
  localStorage.setItem("gatehouse.dataset", dataset);
  sessionStorage.setItem("begun", "yes");
}

/** A new one takes a second on a busy machine. @type {Map<string, Promise<Context>>} */
const shared = new Map();

/** @param {Wish} wish */
function sharedContext(wish) {
  const { actor, role, url, viewport, at = server } = wish;
  const key = JSON.stringify([actor, role, url, viewport, at.port]);
  const known = shared.get(key) ?? contextFor(wish);
  shared.set(key, known);
  return known;
}

/** @param {Wish} wish */
async function contextFor({ actor = "ann", role = "analyst", viewport = LAPTOP, at = server, url = at.url }) {
  const context = await browser.newContext({
    viewport, baseURL: url, acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"], hasTouch: viewport === PHONE,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addCookies(await cookieOf(at, actor, role));
  return context;
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
