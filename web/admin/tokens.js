/** Tokens: who has one, giving one out, ending one. */
import { createToken, getTokens, revokeToken } from "../api/admin.js";
import { asApiError } from "../api/http.js";
import { strings } from "../strings.js";
import { CopyButton } from "../ui/copy.js";
import { momentOf } from "../ui/format.js";
import { useLoaded } from "../ui/load.js";
import { Problem } from "../ui/problem.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../api/types.js").Token} Token */

export function TokensPage() {
  const { value: tokens, error, reload } = useLoaded(getTokens, []);
  const [made, setMade] = useState(/** @type {{token: Token, secret: string} | null} */ (null));
  const [failed, setFailed] = useState(/** @type {import("../api/http.js").ApiError | null} */ (null));
  const attempt = async (/** @type {() => Promise<void>} */ act) => {
    try {
      await act();
      setFailed(null);
    } catch (thrown) {
      setFailed(asApiError(thrown));
    }
    reload();
  };
  const give = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const field = (/** @type {string} */ name) => String(new FormData(form).get(name)).trim();
    void attempt(async () => {
      setMade(await createToken({ actor: field("actor"), role: field("role"), ...(field("expires") && { expires: field("expires") }) }));
      form.reset();
    });
  };
  const problem = failed ?? error;
  return html`
    <p class="muted">${strings.tokensLead}</p>
    <form class="tester" onSubmit=${give}>
      <label>${strings.actor} <input name="actor" required autocomplete="off" maxlength="128" /></label>
      <label>${strings.facts.role} <input name="role" required autocomplete="off" maxlength="128" /></label>
      <label>${strings.expires}
        <select name="expires">${Object.entries(strings.spans).map(([span, name]) => html`<option key=${span} value=${span}>${name}</option>`)}</select>
      </label>
      <button type="submit" class="primary">${strings.giveToken}</button>
    </form>
    <div aria-live="polite">
      ${problem && html`<${Problem} fault=${problem.fault} requestId=${problem.requestId} />`}
      ${made && html`<section class="verdict allowed">
        <h2>${strings.tokenFor(made.token.actor, made.token.role)}</h2>
        <p class="secret"><code>${made.secret}</code> <${CopyButton} text=${made.secret}>${strings.copy}<//></p>
        <p class="muted">${strings.shownOnce}</p>
      </section>`}
    </div>
    ${tokens && html`<${List} tokens=${tokens} onRevoke=${(/** @type {string} */ id) => void attempt(async () => void (await revokeToken(id)))} />`}`;
}

/** @param {{tokens: Token[], onRevoke: (id: string) => void}} props */
function List({ tokens, onRevoke }) {
  return html`<div class="scroll listing" tabindex="0" role="region" aria-label=${strings.adminPages.tokens}><table>
    <thead><tr><th scope="col">${strings.actor}</th><th scope="col">${strings.facts.role}</th><th scope="col">${strings.id}</th>
      <th scope="col">${strings.created}</th><th scope="col">${strings.expires}</th><th scope="col">${strings.state}</th></tr></thead>
    <tbody>${tokens.map((token) => html`<${Item} key=${token.id} token=${token} onRevoke=${onRevoke} />`)}</tbody>
  </table></div>`;
}

/** Ending a token is asked for twice: it cannot be taken back. @param {{token: Token, onRevoke: (id: string) => void}} props */
function Item({ token, onRevoke }) {
  const [sure, setSure] = useState(false);
  const end = () => (sure ? onRevoke(token.id) : setSure(true));
  const state = token.revoked_at ? strings.revoked : strings.expired;
  return html`<tr>
    <td>${token.actor}</td><td>${token.role}</td><td><code>${token.id}</code></td><td>${momentOf(token.created_at)}</td>
    <td>${token.expires_at ? momentOf(token.expires_at) : strings.never}</td>
    <td>${token.valid
      ? html`<button type="button" class=${sure ? "danger" : "quiet"} aria-label=${strings.revokeOf(token.actor, token.id)} onClick=${end} onBlur=${() => setSure(false)}>${sure ? strings.revokeSure : strings.revoke}</button>`
      : html`<span class="muted">${state}</span>`}</td>
  </tr>`;
}
