/** How long ago something was. */
import { momentOf } from "../ui/format.js";
import { html } from "../vendor/preact.js";
import { strings } from "./strings.js";

/** @param {string} instant */
function ago(instant) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(instant)) / 1000));
  if (seconds < 10) return strings.ago.now;
  if (seconds < 120) return strings.ago.seconds(seconds);
  if (seconds < 7200) return strings.ago.minutes(Math.round(seconds / 60));
  if (seconds < 172_800) return strings.ago.hours(Math.round(seconds / 3600));
  return strings.ago.days(Math.round(seconds / 86_400));
}

/** @param {{at: string}} props */
export function Ago({ at }) {
  return html`<time datetime=${at} title=${momentOf(at)}>${ago(at)}</time>`;
}
