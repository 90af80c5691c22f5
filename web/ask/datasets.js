/** The datasets, one of them chosen. */
import { strings } from "../strings.js";
import { size } from "../ui/format.js";
import { html } from "../vendor/preact.js";
import { conversations } from "./conversations.js";

/** @typedef {import("../api/types.js").Dataset} Dataset */

/** @param {{datasets: Dataset[], chosen: Dataset}} props */
export function DatasetList({ datasets, chosen }) {
  return html`<fieldset class="datasets">
    <legend class="eyebrow">${strings.datasets}</legend>
    ${datasets.map((dataset) => html`<${Option} key=${dataset.id} dataset=${dataset} chosen=${dataset.id === chosen.id} />`)}
  </fieldset>`;
}

/** @param {{dataset: Dataset, chosen: boolean}} props */
function Option({ dataset, chosen }) {
  const about = `about-${dataset.id}`;
  const bytes = dataset.files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  return html`<label class="dataset">
    <input type="radio" name="dataset" value=${dataset.id} checked=${chosen} aria-describedby=${about}
      onChange=${() => conversations.choose(dataset)} />
    <span class="name">${dataset.name}</span>
    <span class="weight">${strings.tables(dataset.tables.length)}${bytes > 0 ? ` · ${size(bytes)}` : ""}</span>
    <span class="about" id=${about}>${dataset.description}</span>
  </label>`;
}
