/** For those who keep the house. Each entry of the table is a page; later doors add theirs here. */
import { strings } from "../strings.js";
import { html, useEffect } from "../vendor/preact.js";
import { AuditPage } from "./audit.js";
import { PolicyPage } from "./policy.js";
import { TokensPage } from "./tokens.js";

const PAGES = [
  { id: "policy", page: PolicyPage },
  { id: "audit", page: AuditPage },
  { id: "tokens", page: TokensPage },
];

/** @param {{page: string, session: import("../api/types.js").Session, datasets: import("../api/types.js").Dataset[]}} props */
export default function AdminPage({ page, session, datasets }) {
  const found = PAGES.find(({ id }) => id === page) ?? /** @type {typeof PAGES[number]} */ (PAGES[0]);
  const names = /** @type {Record<string, string>} */ (strings.adminPages);
  useEffect(() => void (document.title = strings.title(names[found.id])), [found.id]);
  if (session.role !== "admin") return html`<main id="main" class="single"><h1>${strings.admin}</h1><p class="muted">${strings.adminOnly}</p></main>`;
  return html`<main id="main" class="single admin">
    <link rel="stylesheet" href="/assets/style/pages.css" />
    <nav class="sections" aria-label=${strings.admin}>
      ${PAGES.map(({ id }) => html`<a key=${id} href=${`/admin/${id}`} aria-current=${id === found.id ? "page" : undefined}>${names[id]}</a>`)}
    </nav>
    <h1>${names[found.id]}</h1>
    <${found.page} key=${found.id} datasets=${datasets} />
  </main>`;
}
