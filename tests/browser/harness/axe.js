/** Whether anything stands in anyone's way: axe-core, in light and dark. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** @typedef {import("playwright-core").Page} Page */

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * All rules in light; in dark those that colours decide.
 * @param {Page} page
 * @param {string} where
 */
export async function accessible(page, where) {
  await page.evaluate(AXE);
  for (const [scheme, options] of /** @type {const} */ ([["light", "{ resultTypes: ['violations'] }"], ["dark", "{ resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'] }"]])) {
    await page.emulateMedia({ colorScheme: scheme });
    await noneSerious(page, options, `${where}, ${scheme}`);
  }
}

/**
 * @param {Page} page
 * @param {string} options
 * @param {string} where
 */
async function noneSerious(page, options, where) {
  const { violations } = /** @type {import("axe-core").AxeResults} */ (await page.evaluate(`axe.run(${options})`));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const told = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
  assert.deepEqual(told, [], where);
}
