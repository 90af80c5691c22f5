/** The empty conversation: an invitation with the dataset's own questions. */
import { strings } from "../strings.js";
import { html } from "../vendor/preact.js";

/** @param {{dataset: import("../api/types.js").Dataset, onPrompt: (prompt: string) => void}} props */
export function Invitation({ dataset, onPrompt }) {
  return html`<section class="hero" aria-labelledby="hero-title">
    <h2 id="hero-title">${strings.hero}</h2>
    <p class="muted">${strings.heroNote}</p>
    <div class="prompts" role="group" aria-label=${strings.suggestions}>
      ${dataset.prompts.map((prompt) => html`<button key=${prompt} type="button" class="prompt" onClick=${() => onPrompt(prompt)}>${prompt}</button>`)}
    </div>
  </section>`;
}
