/** A refusal or an error: what, why, and what to do. */
import { strings } from "../strings.js";
import { html } from "../vendor/preact.js";
import { Prose, sentence } from "./prose.js";

/**
 * @param {object} props
 * @param {import("../api/types.js").Fault} props.fault
 * @param {"failed" | "refused"} [props.status]
 * @param {string} [props.requestId]
 * @param {unknown} [props.children] what can be done about it here
 */
export function Problem({ fault, status = "failed", requestId, children }) {
  const place = fault.span && strings.place(fault.span.line, fault.span.column);
  const names = [fault.code, place, requestId && strings.request(requestId)].filter(Boolean);
  return html`<section class="problem ${status}">
    <h3>${strings.status[status]}</h3>
    <p class="sentence"><${Prose} text=${sentence(fault.message)} /></p>
    ${fault.hint && html`<p><b>${strings.whatToDo}</b> <${Prose} text=${sentence(fault.hint)} /></p>`}
    ${names.length > 0 && html`<p class="names">${names.join(" · ")}</p>`}
    ${children}
  </section>`;
}
