// Bundles the page's libraries: see scripts/vendor.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

const out = process.argv[2];

/** Only what the page uses. */
const bundles = {
  "preact.js": `
    export { render } from "preact";
    export { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
    import { h } from "preact";
    import htm from "htm";
    export const html = htm.bind(h);`,
  "plot.js": `
    export { plot, lineY, barX, barY, dot, ruleX, ruleY }
      from "@observablehq/plot";`,
};

/**
 * Plot writes a style element into each picture, which the page's security policy forbids. The same rules stand in
 * web/style/result.css.
 */
const withoutInlineStyle = {
  name: "without-inline-style",
  setup(build) {
    build.onLoad({ filter: /plot\/src\/(plot|legends\/ramp)\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const changed = text.replace(/\.call\(\(svg\) =>\s*(\/\/[^\n]*\n\s*)*svg\.append\("style"\)\.text\([\s\S]*?`\s*\)\s*\)/, "");
      if (changed === text) throw new Error(`${path} no longer has the style element that was to be taken out`);
      return { contents: changed, loader: "js" };
    });
  },
};

/** The packages whose code ended up in a bundle, with version and licence. */
async function packages(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const kept = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const names = kept.map(([path]) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  const unique = [...new Set(names.filter((name) => name !== undefined))].sort();
  return Promise.all(unique.map(async (name) => {
    const { version, license } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const text = await Promise.any(["LICENSE", "LICENSE.md", "LICENCE", "license"].map((file) => readFile(`node_modules/${name}/${file}`, "utf8")));
    return { name, version, license, text };
  }));
}

const files = [];
for (const [name, contents] of Object.entries(bundles)) {
  const { metafile } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    outfile: join(out, name), bundle: true, format: "esm", minify: true, target: "es2022", metafile: true,
    legalComments: "none", plugins: [withoutInlineStyle],
    banner: { js: `// Made by scripts/vendor; versions and licences: ${name.replace(".js", ".LICENSE.txt")}` },
  });
  const used = await packages(metafile);
  const licences = used.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text.trim()}\n`);
  const file = name.replace(".js", ".LICENSE.txt");
  await writeFile(join(out, file), licences.join(`\n${"-".repeat(80)}\n\n`));
  files.push(name, file);
}

const sums = await Promise.all(files.sort().map(async (file) => {
  const hash = createHash("sha256").update(await readFile(join(out, file))).digest("hex");
  return `${hash}  ${basename(file)}\n`;
}));
await writeFile(join(out, "SHA256SUMS"), sums.join(""));
