// @ts-check
/** What stands around the conversation: datasets, suggestions, the question's field, the gate. */
import { byId, h, prose, size } from "./dom.js";
import { page, strings } from "./strings.js";
import { problem } from "./turn.js";

/** @typedef {import("./api.js").Dataset} Dataset */
/** @typedef {import("./api.js").Session} Session */
/** @typedef {import("./api.js").Fault} Fault */

const app = byId("app", HTMLElement);
const gate = byId("gate", HTMLElement);
const input = byId("question", HTMLTextAreaElement);
const composer = byId("composer", HTMLFormElement);
const stop = byId("stop", HTMLButtonElement);

/** @param {{onSend: (text: string) => void, onStop: () => void, onRestart: () => void, onSignOut: () => void}} handlers */
export function start({ onSend, onStop, onRestart, onSignOut }) {
  for (const element of document.querySelectorAll("[data-text]")) {
    const name = /** @type {keyof typeof page} */ (element.getAttribute("data-text"));
    element.textContent = page[name];
  }
  composer.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text) onSend(text);
  });
  input.addEventListener("keydown", (event) => {
    // While an input method composes a word, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    composer.requestSubmit();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && !stop.hidden && onStop());
  stop.addEventListener("click", onStop);
  byId("restart", HTMLButtonElement).addEventListener("click", onRestart);
  byId("sign-out", HTMLButtonElement).addEventListener("click", onSignOut);
}

/** @param {Session} session */
export function showSession({ actor, role, planner }) {
  const badge = byId("planner", HTMLElement);
  badge.textContent = strings.planner(planner);
  badge.title = planner === "offline" ? strings.plannerOffline : strings.plannerModel;
  byId("actor", HTMLElement).textContent = strings.role(actor, role);
  byId("session", HTMLElement).hidden = false;
  gate.hidden = true;
  app.hidden = false;
}

/**
 * @param {Dataset[]} datasets
 * @param {(dataset: Dataset) => void} onChoose
 */
export function showDatasets(datasets, onChoose) {
  const options = datasets.map((dataset, i) => {
    const about = `about-${i}`;
    const radio = h("input", {
      type: "radio", name: "dataset", value: dataset.id, checked: i === 0, "aria-describedby": about,
      onchange: () => onChoose(dataset),
    });
    const bytes = dataset.files.reduce((sum, file) => sum + file.bytes, 0);
    return h("label", { class: "dataset" }, radio,
      h("span", { class: "name" }, dataset.name),
      h("span", { class: "weight" }, `${strings.tables(dataset.tables.length)} · ${size(bytes)}`),
      h("span", { class: "about", id: about }, dataset.description));
  });
  byId("datasets", HTMLElement).replaceChildren(...options);
}

/**
 * The empty conversation: an invitation with the dataset's own prompts.
 * @param {Dataset} dataset
 * @param {(prompt: string) => void} onPrompt
 */
export function invitation(dataset, onPrompt) {
  return h("section", { class: "hero", "aria-labelledby": "hero-title" },
    h("p", { class: "eyebrow" }, dataset.name),
    h("h2", { id: "hero-title" }, strings.hero),
    h("p", { class: "muted" }, strings.heroNote),
    h("div", { class: "prompts", role: "group", "aria-label": strings.suggestions }, ...promptButtons(dataset, onPrompt)));
}

/**
 * Draws one conversation: its turns, and the field in the state that belongs to it.
 * @param {object} conversation
 * @param {Dataset} conversation.dataset
 * @param {HTMLElement} conversation.list
 * @param {boolean} conversation.begun
 * @param {boolean} conversation.running
 * @param {(prompt: string) => void} onPrompt
 */
export function showConversation({ dataset, list, begun, running }, onPrompt) {
  const place = byId("conversation", HTMLElement);
  if (place.firstElementChild !== list) place.replaceChildren(list);
  const chips = byId("chips", HTMLElement);
  chips.hidden = !begun;
  chips.setAttribute("aria-label", strings.suggestions);
  chips.replaceChildren(...promptButtons(dataset, onPrompt));
  for (const chip of chips.querySelectorAll("button")) chip.disabled = running;
  input.placeholder = begun ? strings.followUp : strings.placeholder(dataset.name);
  byId("restart", HTMLButtonElement).hidden = !begun || running;
  byId("send", HTMLButtonElement).hidden = running;
  stop.hidden = !running;
  stop.disabled = false;
}

/**
 * @param {Dataset} dataset
 * @param {(prompt: string) => void} onPrompt
 */
function promptButtons(dataset, onPrompt) {
  return dataset.prompts.map((prompt) =>
    h("button", { type: "button", class: "prompt", onclick: () => onPrompt(prompt) }, prompt));
}

export function stopping() {
  stop.disabled = true;
}

/** Text that could not be sent goes back into the field, unless something new stands there. */
export const giveBack = (/** @type {string} */ text) => void (input.value ||= text);
export const clearInput = () => void (input.value = "");

/** On a touch screen, focus would open the keyboard over the answer. */
export function focusInput() {
  if (matchMedia("(pointer: fine)").matches) input.focus({ preventScroll: true });
}

/** @param {HTMLElement} element */
export function reveal(element) {
  element.scrollIntoView({ block: "start" });
}

/**
 * Somebody who has scrolled away to read something else stays there.
 * @param {HTMLElement} element
 */
export function revealIfSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const behavior = calm ? "auto" : "smooth";
  if (bottom > 0 && top < innerHeight) element.scrollIntoView({ block: "start", behavior });
}

/** @param {string} text */
export function announce(text) {
  byId("live", HTMLElement).textContent = text;
}

/** @param {() => void} onRetry */
export function showSignIn(onRetry) {
  showGate(
    h("h1", {}, strings.signInTitle),
    h("p", { class: "sentence" }, strings.signInLead),
    h("p", { class: "muted" }, prose(strings.signInWhere)),
    h("p", { class: "muted" }, strings.signInAgain),
    h("button", { type: "button", class: "primary", onclick: onRetry }, strings.signedIn));
}

/**
 * @param {Fault} fault
 * @param {string | undefined} requestId
 * @param {() => void} onRetry
 */
export function showUnavailable(fault, requestId, onRetry) {
  showGate(
    h("h1", {}, strings.unreachableTitle),
    problem("failed", fault, requestId),
    h("button", { type: "button", class: "primary", onclick: onRetry }, strings.tryAgain));
}

export function showNoDatasets() {
  showGate(h("h1", {}, strings.noDatasets), h("p", { class: "muted" }, prose(strings.noDatasetsHint)));
}

/** @param {...HTMLElement} children */
function showGate(...children) {
  byId("session", HTMLElement).hidden = true;
  app.hidden = true;
  gate.replaceChildren(h("div", { class: "card" }, ...children));
  gate.hidden = false;
}
