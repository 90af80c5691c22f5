// @ts-check
/** One question and what came of it. */
import { detailsPanel } from "./details.js";
import { duration, h, prose } from "./dom.js";
import { strings } from "./strings.js";
import { resultTable } from "./table.js";

/** @typedef {import("./api.js").Stage} Stage */
/** @typedef {import("./api.js").Fault} Fault */
/** @typedef {import("./api.js").Payload} Payload */
/** @typedef {import("./api.js").Details} Details */

/** @type {Stage[]} */
const STAGES = ["planning", "validating", "executing"];
const TICK_MS = 100;

export class Turn {
  /** @param {string} question */
  constructor(question) {
    this.question = question;
    this.progress = new Progress();
    this.answer = h("div", { class: "answer" });
    this.element = h("article", { class: "turn" }, h("h2", {}, question), this.progress.element, this.answer);
  }

  /** @param {Stage} stage */
  stage(stage) {
    this.progress.enter(stage);
  }

  stopping() {
    this.progress.stopping();
  }

  /**
   * @param {Payload} payload
   * @param {(choice: string) => void} onChoice
   */
  finish(payload, onChoice) {
    this.progress.end(payload.status === "succeeded", payload.details?.timings);
    this.answer.replaceChildren(...answerParts(payload, this.question, onChoice), detailsPanel(payload));
  }

  /**
   * The request did not become a run, or its stream broke.
   * @param {Fault} fault
   * @param {string | undefined} requestId
   * @param {() => void} onRetry
   */
  fail(fault, requestId, onRetry) {
    this.progress.end(false);
    const retry = h("button", { type: "button", class: "secondary", onclick: onRetry }, strings.tryAgain);
    this.answer.replaceChildren(problem("failed", fault, requestId), retry);
  }

  /** The conversation has moved on: a choice of this turn would now answer another question. */
  retire() {
    for (const button of this.element.querySelectorAll(".choices button, .answer > .secondary")) {
      button.setAttribute("disabled", "");
    }
  }
}

/** The three stages with the time that each took: the page's clock while it runs, the server's after. */
class Progress {
  constructor() {
    /** @type {Map<Stage, {item: HTMLElement, name: HTMLElement, time: HTMLElement, spent: number}>} */
    this.steps = new Map();
    for (const stage of STAGES) {
      const name = h("span", {}, strings.stages[stage]);
      const time = h("span", { class: "time" });
      this.steps.set(stage, { item: h("li", { "data-state": "pending" }, name, time), name, time, spent: 0 });
    }
    this.element = h("ol", { class: "steps" }, ...[...this.steps.values()].map(({ item }) => item));
    /** @type {Stage | null} */
    this.current = null;
    this.since = performance.now();
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.enter("planning");
  }

  /** @param {Stage} stage */
  enter(stage) {
    if (stage === this.current || !this.steps.has(stage)) return;
    this.tick();
    this.current = stage;
    for (const [index, name] of STAGES.entries()) {
      const at = STAGES.indexOf(stage);
      this.mark(name, index < at ? "done" : index === at ? "active" : "pending");
    }
  }

  stopping() {
    const step = this.current && this.steps.get(this.current);
    if (step) step.name.textContent = strings.stopping;
  }

  /**
   * Only stages that were reached stay, and the one in which it ended without an answer is not called done.
   * @param {boolean} succeeded
   * @param {Details["timings"]} [timings]
   */
  end(succeeded, timings) {
    clearInterval(this.timer);
    this.tick();
    if (this.current) this.mark(this.current, succeeded ? "done" : "ended");
    const measured = { planning: timings?.plan_ms, validating: timings?.check_ms, executing: timings?.run_ms };
    for (const [stage, step] of this.steps) {
      if (step.item.dataset.state === "pending") step.item.remove();
      else step.time.textContent = duration(measured[stage] || step.spent);
    }
  }

  tick() {
    const now = performance.now();
    const step = this.current && this.steps.get(this.current);
    if (step) {
      step.spent += now - this.since;
      step.time.textContent = `${(step.spent / 1000).toFixed(1)} s`;
    }
    this.since = now;
  }

  /**
   * @param {Stage} stage
   * @param {"pending" | "active" | "done" | "ended"} state
   */
  mark(stage, state) {
    const step = this.steps.get(stage);
    if (!step) return;
    step.item.dataset.state = state;
    step.name.textContent = (state === "done" ? strings.stagesDone : strings.stages)[stage];
  }
}

/**
 * @param {Payload} payload
 * @param {string} question
 * @param {(choice: string) => void} onChoice
 * @returns {HTMLElement[]}
 */
function answerParts(payload, question, onChoice) {
  const { status, result, clarification, assistant_message: message } = payload;
  if (clarification) return [clarify(clarification, onChoice)];
  if (status === "cancelled") return [h("p", { class: "sentence muted" }, message || strings.cancelled)];
  if (result?.error) return [problem(status, result.error)];
  if (status !== "succeeded" || !result) return [problem(status, { type: "", code: "", message })];
  return [h("p", { class: "sentence" }, prose(message)), ...notices(payload), resultTable(result, question)];
}

/** @param {Payload} payload */
function notices({ result, filtered_by: filteredBy = [] }) {
  const texts = [];
  if (result?.truncated) texts.push(strings.truncated(result.rows.length));
  if (filteredBy.length) texts.push(strings.filteredBy(filteredBy));
  return texts.map((text) => h("p", { class: "notice" }, prose(text)));
}

/**
 * @param {{question: string, choices: string[]}} clarification
 * @param {(choice: string) => void} onChoice
 */
function clarify({ question, choices }, onChoice) {
  const button = (/** @type {string} */ choice) => {
    const choose = (/** @type {Event} */ event) => {
      /** @type {HTMLElement} */ (event.currentTarget).classList.add("chosen");
      onChoice(choice);
    };
    return h("button", { type: "button", class: "choice", onclick: choose }, choice);
  };
  return h("section", { class: "clarify" },
    h("p", { class: "sentence" }, prose(question)),
    h("div", { class: "choices", role: "group", "aria-label": question }, ...choices.map(button)),
    h("p", { class: "muted" }, strings.chooseOne));
}

/**
 * @param {import("./api.js").Status} status
 * @param {Fault} fault
 * @param {string} [requestId]
 */
export function problem(status, fault, requestId) {
  const names = [fault.type, fault.code, requestId].filter(Boolean);
  return h("section", { class: `problem ${status}` },
    h("h3", {}, strings.status[status] ?? status),
    h("p", { class: "sentence" }, prose(sentence(fault.message))),
    fault.hint && h("p", {}, h("b", {}, `${strings.hint}: `), prose(sentence(fault.hint))),
    names.length > 0 && h("p", { class: "names" }, names.join(" · ")));
}

/**
 * The server's messages are lowercase fragments, made to stand in a log line; here they stand alone.
 * @param {string} text
 */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!`…]$/.test(text) ? "" : ".");
}
