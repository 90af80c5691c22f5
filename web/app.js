/** The shell: who is signed in, where the page is, what stands around it. */
import { asApiError, whenSignedOut } from "./api/http.js";
import { getDatasets, getSession, signOut } from "./api/endpoints.js";
import { AskPage } from "./ask/page.js";
import { NoDatasets, SignIn, Unavailable } from "./gate.js";
import { Lazy } from "./lazy.js";
import { useRoute } from "./router.js";
import { strings } from "./strings.js";
import { ThemeButton } from "./theme.js";
import { html, useCallback, useEffect, useState } from "./vendor/preact.js";

/** @typedef {import("./api/types.js").Session} Session */
/** @typedef {import("./api/types.js").Dataset} Dataset */
/**
 * @typedef {{state: "loading"} | {state: "signed out"}
 *   | {state: "unavailable", error: import("./api/http.js").ApiError}
 *   | {state: "in", session: Session, datasets: Dataset[]}} Entry
 */

export function App() {
  const [entry, setEntry] = useState(/** @type {Entry} */ ({ state: "loading" }));
  const enter = useCallback(async () => {
    try {
      const [session, datasets] = await Promise.all([getSession(), getDatasets()]);
      setEntry({ state: "in", session, datasets });
    } catch (error) {
      const known = asApiError(error);
      setEntry(known.status === 401 ? { state: "signed out" } : { state: "unavailable", error: known });
    }
  }, []);
  useEffect(() => {
    whenSignedOut(() => setEntry({ state: "signed out" }));
    void enter();
  }, []);
  const session = entry.state === "in" ? entry.session : undefined;
  return html`
    <a class="skip" href="#main">${strings.skip}</a>
    <${Bar} session=${session} />
    <${Content} entry=${entry} enter=${enter} />`;
}

/** @param {{entry: Entry, enter: () => void}} props */
function Content({ entry, enter }) {
  const route = useRoute();
  if (entry.state === "loading") return html`<main id="main" aria-busy="true"></main>`;
  if (entry.state === "signed out") return html`<${SignIn} onRetry=${enter} />`;
  if (entry.state === "unavailable") return html`<${Unavailable} error=${entry.error} onRetry=${enter} />`;
  const { session, datasets } = entry;
  if (route.name === "ops") {
    return html`<${Lazy} load=${() => import("./ops/page.js")} page=${route.page} id=${route.id} session=${session} />`;
  }
  if (route.name === "admin") {
    return html`<${Lazy} load=${() => import("./admin/page.js")} page=${route.page} session=${session} datasets=${datasets} />`;
  }
  if (route.name === "history") {
    return html`<${Lazy} load=${() => import("./history/page.js")} session=${session} datasets=${datasets} />`;
  }
  if (route.name === "run") {
    return html`<${Lazy} load=${() => import("./run/page.js")} key=${route.id} id=${route.id} session=${session} datasets=${datasets} />`;
  }
  if (datasets.length === 0) return html`<${NoDatasets} />`;
  return html`<${AskPage} thread=${route.thread} visit=${route.visit} datasets=${datasets} />`;
}

/** @param {{session?: Session}} props */
function Bar({ session }) {
  return html`<header class="bar">
    <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="26" height="26" /><span>${strings.name}</span></a>
    ${session && html`<${Navigation} role=${session.role} />`}
    <div class="session">
      ${session && html`<${Who} ...${session} />`}
      <${ThemeButton} />
      ${session && html`<button type="button" class="quiet" onClick=${leave}>${strings.signOut}</button>`}
    </div>
  </header>`;
}

/** Who has something to do with devices: the roles of the Ops door. */
const OPS_ROLES = ["engineer", "approver", "admin"];

/** @param {{role: string}} props */
function Navigation({ role }) {
  const { name } = useRoute();
  const link = (/** @type {string} */ href, /** @type {string} */ text, /** @type {boolean} */ here) =>
    html`<a href=${href} aria-current=${here ? "page" : undefined}>${text}</a>`;
  return html`<nav class="places" aria-label=${strings.places}>
    ${link("/", strings.ask, name === "ask")}
    ${link("/history", strings.history, name === "history" || name === "run")}
    ${OPS_ROLES.includes(role) && link("/ops/approvals", strings.ops, name === "ops")}
    ${role === "admin" && link("/admin/policy", strings.admin, name === "admin")}
  </nav>`;
}

/** @param {Session} props */
function Who({ actor, role, planner }) {
  const offline = planner === "offline";
  return html`
    <span class="badge" title=${offline ? strings.plannerOffline : strings.plannerModel}>${strings.planner(planner)}</span>
    <span class="actor">${strings.role(actor, role)}</span>`;
}

async function leave() {
  // Signed out already, or the server is gone: what the page shows next says which.
  await signOut().catch(() => {});
  location.assign("/");
}
