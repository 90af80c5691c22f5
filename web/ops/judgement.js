/** What policy thinks of a script, and what its manifest lets it do, in words. */
import { strings as common } from "../strings.js";
import { Prose, sentence } from "../ui/prose.js";
import { html } from "../vendor/preact.js";
import { RiskBadge, SeverityBadge } from "./badges.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/ops-types.js").Proposal} Proposal */
/** @typedef {import("../api/ops-types.js").Manifest} Manifest */
/** @typedef {import("../api/ops-types.js").Violation} Violation */

/** @param {{proposal: Proposal}} props */
export function Risk({ proposal: { report, risk, approvals_needed: needed, state } }) {
  const { reasons, commands } = report;
  return html`<section class="panel" aria-labelledby="risk">
    <h2 id="risk">${strings.risk} <${RiskBadge} risk=${risk} /></h2>
    <ul class="reasons">
      ${reasons.length === 0 && html`<li>${strings.lowReason}</li>`}
      ${reasons.map((reason) => html`<li key=${reason.code + reason.line + reason.message} class=${`risk-${reason.risk}`}>
        <${Prose} text=${sentence(reason.message)} />${reason.line > 0 && html` <span class="muted small">${strings.lineNote(reason.line)}</span>`}
      </li>`)}
    </ul>
    ${state === "waiting" && html`<p class="muted">${strings.needs(needed)}</p>`}
    ${commands.length > 0 && html`<p class="muted small">${strings.commands}: <code>${commands.join(", ")}</code></p>`}
  </section>`;
}

/** @param {{critique: import("../api/ops-types.js").Critique}} props */
export function Critique({ critique: { by, hints = [] } }) {
  if (hints.length === 0) return null;
  return html`<section class="panel" aria-labelledby="critique">
    <h2 id="critique">${strings.critique(by)}</h2>
    <ul class="reasons">${hints.map(({ severity, message, line }, i) => html`<li key=${i}>
      <${SeverityBadge} severity=${severity} /> <${Prose} text=${sentence(message)} />${line > 0 && html` <span class="muted small">${strings.lineNote(line)}</span>`}
    </li>`)}</ul>
  </section>`;
}

/** @param {{violations: Violation[]}} props */
export function Violations({ violations }) {
  return html`<section class="problem refused" aria-labelledby="violations">
    <h2 id="violations">${strings.violations(violations.length)}</h2>
    <ul class="violations">${violations.map((violation, i) => html`<li key=${i}>
      <${Prose} text=${sentence(violation.message)} />
      ${violation.hint && html` <span class="muted"><${Prose} text=${sentence(violation.hint)} /></span>`}
      <p class="names">${[violation.code, violation.span && strings.lineNote(violation.span.line), violation.details?.in === "rollback" && strings.inRollback].filter(Boolean).join(" · ")}</p>
    </li>`)}</ul>
  </section>`;
}

/** @param {{manifest: Manifest}} props */
export function ManifestInWords({ manifest }) {
  return html`<section class="panel" aria-labelledby="manifest">
    <h2 id="manifest">${strings.manifest}</h2>
    <ul class="words">${words(manifest).map((text) => html`<li key=${text}><${Prose} text=${text} /></li>`)}</ul>
    <details class="details"><summary>${strings.asJson}</summary><pre tabindex="0" aria-label=${common.copyThis(strings.asJson)}>${JSON.stringify(manifest, null, 2)}</pre></details>
  </section>`;
}

/**
 * What it may change and reach comes first: that is what an approver answers for.
 * @param {Manifest} manifest
 */
function words({ interpreter, env, timeout_seconds: seconds, work_dir: dir, network, writable_paths: paths, capabilities, resources }) {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [
    paths.length ? strings.writes(paths) : strings.writesNothing,
    strings.network[network],
    capabilities.length ? strings.capabilities(capabilities) : strings.noCapabilities,
    variables.length ? strings.env(variables) : strings.noEnv,
    strings.runsWith(interpreter, seconds),
    dir && strings.workDir(dir),
    strings.limits(resources),
  ].filter(Boolean);
}
