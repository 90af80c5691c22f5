/** Devices, what ails them, and scripts that wait for a yes. */
import { strings as common } from "../strings.js";
import { html, useEffect } from "../vendor/preact.js";
import { AnalysisPage } from "./analysis.js";
import { DevicePage } from "./device.js";
import { DevicesPage } from "./devices.js";
import { InboxPage } from "./inbox.js";
import { ProposalPage } from "./proposal.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/types.js").Session} Session */

const SECTIONS = /** @type {const} */ (["approvals", "devices"]);
/** Addresses below `/ops/`, the section that each belongs to, and what shows them. */
const PAGES = [
  { page: "approvals", one: false, section: "approvals", shows: InboxPage },
  { page: "proposals", one: true, section: "approvals", shows: ProposalPage },
  { page: "devices", one: false, section: "devices", shows: DevicesPage },
  { page: "devices", one: true, section: "devices", shows: DevicePage },
  { page: "analyses", one: true, section: "devices", shows: AnalysisPage },
];

/** @param {{page: string, id: string, session: Session}} props */
export default function OpsPage({ page, id, session }) {
  const found = PAGES.find((entry) => entry.page === page && entry.one === Boolean(id));
  useEffect(() => void (document.title = common.title(strings.title)), [page, id]);
  if (!["engineer", "approver", "admin"].includes(session.role)) {
    return html`<main id="main" class="single"><h1>${strings.title}</h1><p class="muted">${strings.onlyFor}</p></main>`;
  }
  return html`<main id="main" class="single ops">
    <link rel="stylesheet" href="/assets/style/pages.css" />
    <link rel="stylesheet" href="/assets/style/ops.css" />
    <nav class="sections" aria-label=${strings.title}>
      ${SECTIONS.map((section) => html`<a key=${section} href=${`/ops/${section}`}
        aria-current=${section === found?.section ? (id ? "true" : "page") : undefined}>${strings.pages[section]}</a>`)}
    </nav>
    ${found ? html`<${found.shows} key=${`${page}/${id}`} id=${id} session=${session} />` : html`<h1>${strings.title}</h1><p class="muted">${strings.unknownPage}</p>`}
  </main>`;
}
