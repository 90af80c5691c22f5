/** The field that questions are written in. */
import { useStore } from "../store.js";
import { strings } from "../strings.js";
import { html, useEffect, useRef } from "../vendor/preact.js";
import { conversations } from "./conversations.js";

/** @param {{conversation: import("./conversation.js").Conversation}} props */
export function Composer({ conversation }) {
  useStore(conversation);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const { dataset, turns, running, draft } = conversation;
  useEffect(() => {
    // On a touch screen, focus would open the keyboard over the answer.
    if (matchMedia("(pointer: fine)").matches) field.current?.focus({ preventScroll: true });
    return listen(document, "keydown", (event) => shortcut(event, conversation, field.current));
  }, [conversation]);
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (draft.trim()) void conversation.ask(draft.trim());
  };
  const sendOnEnter = (/** @type {KeyboardEvent} */ event) => {
    // While an input method composes a word, Enter belongs to it.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  const placeholder = turns.length ? strings.followUp : strings.placeholder(dataset.name);
  return html`<form class="composer" onSubmit=${send}>
    <div class="field">
      <label class="sr-only" for="question">${strings.question}</label>
      <textarea id="question" ref=${field} rows="1" maxlength="10000" enterkeyhint="send" autocomplete="off"
        aria-describedby="keys" placeholder=${placeholder} value=${draft} onKeyDown=${sendOnEnter}
        onInput=${(/** @type {InputEvent} */ event) => conversation.write(/** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea>
      ${running
        ? html`<button type="button" class="stop" disabled=${running.turn.stopped} onClick=${() => conversation.stop()}>${strings.stop}</button>`
        : html`<button type="submit" class="primary" disabled=${!draft.trim()}>${strings.send}</button>`}
    </div>
    <p class="under">
      <span id="keys">${running ? strings.keysRunning : strings.keys}</span>
      ${turns.length > 0 && !running && html`<button type="button" class="quiet" onClick=${() => conversations.restart(dataset)}>${strings.newConversation}</button>`}
    </p>
  </form>`;
}

/**
 * @param {KeyboardEvent} event
 * @param {import("./conversation.js").Conversation} conversation
 * @param {HTMLTextAreaElement | null} field
 */
function shortcut(event, conversation, field) {
  const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "Escape" && conversation.running) conversation.stop();
  else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field?.focus();
  }
}

/**
 * @param {Document} target
 * @param {"keydown"} name
 * @param {(event: KeyboardEvent) => void} listener
 */
function listen(target, name, listener) {
  target.addEventListener(name, listener);
  return () => target.removeEventListener(name, listener);
}
