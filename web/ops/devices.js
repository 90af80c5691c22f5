/** All devices: what state they are in, and making one known. */
import { expectDevice, getDevices } from "../api/ops.js";
import { strings as common } from "../strings.js";
import { Failure, useAttempt } from "../ui/attempt.js";
import { CopyButton } from "../ui/copy.js";
import { momentOf } from "../ui/format.js";
import { useLoaded } from "../ui/load.js";
import { usePoll } from "../ui/poll.js";
import { html, useState } from "../vendor/preact.js";
import { strings } from "./strings.js";
import { Ago } from "./time.js";

/** @typedef {import("../api/ops-types.js").Device} Device */
/** @typedef {import("../api/ops-types.js").EnrolCode} EnrolCode */

const LOOK_MS = 5000;

/** @param {{session: import("../api/types.js").Session}} props */
export function DevicesPage({ session }) {
  const { value: devices, error, reload } = useLoaded(getDevices, []);
  usePoll(reload, LOOK_MS);
  return html`
    <h1>${strings.pages.devices}</h1>
    <p class="muted">${strings.devicesLead}</p>
    <${Failure} error=${error} />
    ${devices?.length === 0 && html`<p class="muted empty">${strings.noDevices}</p>`}
    ${devices && devices.length > 0 && html`<ul class="cards">${devices.map((device) => html`<${Item} key=${device.id} device=${device} />`)}</ul>`}
    ${session.role === "admin" && html`<${Add} onAdded=${reload} />`}`;
}

/** @param {{device: Device}} props */
function Item({ device }) {
  const { id, name, enrolled_at: enrolled, seen_at: seen, sandbox_tier: tier, version } = device;
  return html`<li><a href=${`/ops/devices/${id}`}>
    <span class="about">${name || id}</span>
    <span class="marks"><span class=${`mark ${enrolled ? "state-sent" : ""}`}>${enrolled ? strings.enrolled : strings.notEnrolled}</span></span>
    <span class="facts">${name && html`<code>${id}</code> · `}${strings.lastSeen} ${seen ? html`<${Ago} at=${seen} />` : strings.never}
      ${tier && ` · ${strings.sandbox} ${tier}`}${version && ` · ${strings.programVersion} ${version}`}</span>
  </a></li>`;
}

/** @param {{onAdded: () => void}} props */
function Add({ onAdded }) {
  const { attempt, busy, failed } = useAttempt();
  const [made, setMade] = useState(/** @type {EnrolCode | null} */ (null));
  const add = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const field = (/** @type {string} */ name) => String(new FormData(form).get(name)).trim();
    void attempt(async () => {
      setMade(await expectDevice({ device_id: field("device_id"), name: field("name") }));
      form.reset();
      onAdded();
    });
  };
  return html`<section aria-labelledby="add" class="panel">
    <h2 id="add">${strings.addDevice}</h2>
    <form class="tester" onSubmit=${add}>
      <label>${strings.deviceId} <input name="device_id" required autocomplete="off" maxlength="64" pattern="[A-Za-z0-9._\\-]+" placeholder=${strings.deviceIdHint} /></label>
      <label>${strings.name} <input name="name" autocomplete="off" maxlength="200" placeholder=${strings.optional} /></label>
      <button type="submit" class="primary" disabled=${busy}>${strings.getCode}</button>
    </form>
    <${Failure} error=${failed} />
    <${Code} made=${made} />
  </section>`;
}

/** @param {{made: EnrolCode | null}} props */
export function Code({ made }) {
  const command = made && `gatehouse-device enrol ${location.origin} ${made.code}`;
  return html`<div aria-live="polite">${made && command && html`<section class="verdict allowed">
    <h3>${strings.codeFor(made.device_id)}</h3>
    <p class="muted">${strings.codeNote(momentOf(made.expires_at))}</p>
    <p class="command"><code>${command}</code> <${CopyButton} text=${command} label=${common.copyThis(strings.codeFor(made.device_id))}>${common.copy}<//></p>
  </section>`}</div>`;
}
