/** What is shown instead of the page: signed out, unreachable, nothing to ask about. */
import { strings } from "./strings.js";
import { Problem } from "./ui/problem.js";
import { Prose } from "./ui/prose.js";
import { html } from "./vendor/preact.js";

/** @param {{title: string, children?: unknown}} props */
function Gate({ title, children }) {
  return html`<main id="main" class="gate"><div class="card"><h1>${title}</h1>${children}</div></main>`;
}

/** @param {{onRetry: () => void}} props */
export function SignIn({ onRetry }) {
  return html`<${Gate} title=${strings.signIn.title}>
    <p class="sentence">${strings.signIn.lead}</p>
    <p class="muted"><${Prose} text=${strings.signIn.where} /></p>
    <p class="muted"><${Prose} text=${strings.signIn.again} /></p>
    <button type="button" class="primary" onClick=${onRetry}>${strings.signIn.done}</button>
  <//>`;
}

/** @param {{error: import("./api/http.js").ApiError, onRetry: () => void}} props */
export function Unavailable({ error, onRetry }) {
  return html`<${Gate} title=${strings.unavailable}>
    <${Problem} fault=${error.fault} requestId=${error.requestId} />
    <button type="button" class="primary" onClick=${onRetry}>${strings.tryAgain}</button>
  <//>`;
}

export function NoDatasets() {
  return html`<${Gate} title=${strings.noDatasets.title}><p class="muted"><${Prose} text=${strings.noDatasets.hint} /></p><//>`;
}
