/** Where the page begins. */
import { App } from "./app.js";
import { html, render } from "./vendor/preact.js";

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
