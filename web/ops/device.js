/** One device: what it may be given, what it said, and what can be done for it. */
import { analyse, expectDevice, getDevices, getDiagnostics, submitDiagnostics } from "../api/ops.js";
import { navigate } from "../router.js";
import { strings as common } from "../strings.js";
import { Failure, useAttempt } from "../ui/attempt.js";
import { momentOf } from "../ui/format.js";
import { useLoaded } from "../ui/load.js";
import { usePoll } from "../ui/poll.js";
import { Prose } from "../ui/prose.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { Code } from "./devices.js";
import { Propose } from "./propose.js";
import { isEngineer } from "./roles.js";
import { strings } from "./strings.js";
import { Ago } from "./time.js";

/** @typedef {import("../api/types.js").Session} Session */
/** @typedef {import("../api/ops-types.js").Device} Device */
/** @typedef {import("../api/ops-types.js").DiagnosticsLine} DiagnosticsLine */

const LOOK_MS = 5000;

/** @param {{id: string, session: Session}} props */
export function DevicePage({ id, session }) {
  const { value: devices, error, reload } = useLoaded(getDevices, [id]);
  usePoll(reload, LOOK_MS);
  const device = devices?.find((known) => known.id === id);
  useEffect(() => {
    if (device) document.title = common.title(device.name || id);
  }, [device?.name]);
  const works = device?.enrolled_at && isEngineer(session);
  return html`
    <p><a class="quiet back" href="/ops/devices">← ${strings.back.devices}</a></p>
    <${Failure} error=${error} />
    ${devices && !device && html`<h1>${id}</h1><p class="muted">${strings.noneSuch}</p>`}
    ${device && html`<${Head} device=${device} />`}
    ${device && session.role === "admin" && html`<${NewCode} device=${device} />`}
    ${device?.enrolled_at && html`<${Diagnostics} device=${id} session=${session} />`}
    ${works && html`<${Submit} device=${id} />`}
    ${works && html`<${Propose} device=${id} />`}`;
}

/** @param {{device: Device}} props */
function Head({ device }) {
  const { id, name, enrolled_at: enrolled, seen_at: seen, sandbox_tier: tier, version, grants } = device;
  /** @type {[string, unknown][]} */
  const facts = [
    [strings.deviceId, html`<code>${id}</code>`],
    [strings.state, enrolled ? `${strings.enrolled} ${momentOf(enrolled)}` : strings.notEnrolled],
    [strings.lastSeen, seen ? html`<${Ago} at=${seen} />` : strings.never],
    [strings.sandbox, tier],
    [strings.programVersion, version],
  ];
  return html`<header class="heading"><h1>${name || id}</h1></header>
    <dl class="figures">${facts.filter(([, value]) => value).map(([term, value]) => html`<div key=${term}><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
    ${grants && html`<section class="panel" aria-labelledby="grants"><h2 id="grants">${strings.grants}</h2><ul class="words">
      ${[strings.grantsWrite(grants.writable_roots), strings.grantsNetwork(grants.network), strings.grantsCapabilities(grants.capabilities)]
        .map((text) => html`<li key=${text}><${Prose} text=${text} /></li>`)}
    </ul></section>`}`;
}

/** @param {{device: Device}} props */
function NewCode({ device }) {
  const { attempt, busy, failed } = useAttempt();
  const [made, setMade] = useState(/** @type {import("../api/ops-types.js").EnrolCode | null} */ (null));
  const give = () => attempt(async () => setMade(await expectDevice({ device_id: device.id, name: device.name })));
  return html`<div><p><button type="button" class="secondary" disabled=${busy} onClick=${give}>${strings.newCode}</button></p>
    <${Failure} error=${failed} /><${Code} made=${made} /></div>`;
}

/** @param {{device: string, session: Session}} props */
function Diagnostics({ device, session }) {
  const { value: lines, error, reload } = useLoaded(() => getDiagnostics(device), [device]);
  usePoll(reload, LOOK_MS);
  const { attempt, busy, failed } = useAttempt();
  const find = (/** @type {string} */ id) => attempt(async () => navigate(`/ops/analyses/${(await analyse(id)).analysis_id}`));
  return html`<section class="panel" aria-labelledby="diagnostics">
    <h2 id="diagnostics">${strings.diagnostics}</h2>
    <${Failure} error=${failed ?? error} />
    ${lines?.length === 0 && html`<p class="muted">${strings.diagnosticsNone}</p>`}
    <ul class="submissions">${lines?.map((line) => html`<li key=${line.diagnostics_id}>
      <span>${strings.submittedBy(line.actor, momentOf(line.at))} <span class="muted small">${strings.redacted(line.redacted)}</span></span>
      ${line.analysis_id
        ? html`<a class="quiet" href=${`/ops/analyses/${line.analysis_id}`}>${strings.findings}</a>`
        : isEngineer(session) && html`<button type="button" class="secondary" disabled=${busy} onClick=${() => find(line.diagnostics_id)}>${strings.analyse}</button>`}
    </li>`)}</ul>
  </section>`;
}

/** @param {{device: string}} props */
function Submit({ device }) {
  const { attempt, busy, failed } = useAttempt();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const output = { command: String(form.get("command")), text: String(form.get("text")) };
    void attempt(async () => {
      const { diagnostics_id: id } = await submitDiagnostics(device, [output]);
      navigate(`/ops/analyses/${(await analyse(id)).analysis_id}`);
    });
  };
  return html`<details class="panel"><summary><h2>${strings.submit}</h2></summary>
    <p class="muted">${strings.submitLead}</p>
    <form class="tester" onSubmit=${submit}>
      <label class="statement">${strings.command} <input name="command" required autocomplete="off" placeholder="journalctl -n 200" /></label>
      <label class="statement">${strings.output} <textarea name="text" rows="8" spellcheck=${false} required></textarea></label>
      <button type="submit" class="primary" disabled=${busy}>${strings.send}</button>
    </form>
    <${Failure} error=${failed} />
  </details>`;
}
