/** A conversation about one dataset: its turns, and the one that is on its way. */
import { cancelRun } from "../api/endpoints.js";
import { ApiError, asApiError } from "../api/http.js";
import { ask } from "../api/stream.js";
import { Store } from "../store.js";
import { strings } from "../strings.js";
import { announce } from "../ui/live.js";

/** @typedef {import("../api/types.js").Dataset} Dataset */
/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Stage} Stage */

/** How long the server has to confirm a stop before the page lets go of the stream. */
const STOP_PATIENCE_MS = 5000;

let turns = 0;

/** A question and what has come of it so far. */
export class Turn {
  /** @param {string} question */
  constructor(question) {
    this.key = ++turns;
    this.question = question;
    /** When each stage was entered, by the page's clock. @type {Map<Stage, number>} */
    this.entered = new Map();
    /** @type {number | undefined} */
    this.endedAt = undefined;
    /** @type {string | undefined} */
    this.runId = undefined;
    this.stopped = false;
    this.lost = false;
    /** @type {Run | undefined} */
    this.run = undefined;
    /** @type {ApiError | undefined} */
    this.error = undefined;
  }

  /**
   * A turn that is on record.
   * @param {Run} run
   */
  static of(run) {
    const turn = new Turn(run.question ?? run.details.sql_text ?? "");
    turn.runId = run.run_id;
    turn.run = run;
    return turn;
  }

  get ended() {
    return this.run !== undefined || this.error !== undefined;
  }
}

export class Conversation extends Store {
  /**
   * @param {Dataset} dataset
   * @param {string | null} [thread]
   */
  constructor(dataset, thread = null) {
    super();
    this.dataset = dataset;
    this.thread = thread;
    /** @type {Turn[]} */
    this.turns = [];
    /** What stands in the field. */
    this.draft = "";
    /** @type {{turn: Turn, stream: AbortController} | null} */
    this.running = null;
  }

  /** @param {string} text */
  write(text) {
    this.draft = text;
    this.changed();
  }

  /** @param {string} message */
  async ask(message) {
    if (this.running) return;
    const turn = new Turn(message);
    const stream = new AbortController();
    this.running = { turn, stream };
    this.turns = [...this.turns, turn];
    this.draft = "";
    this.#enter(turn, "planning");
    const question = { dataset_id: this.dataset.id, message, ...(this.thread && { thread_id: this.thread }) };
    const listener = {
      onStage: (/** @type {Stage} */ stage, /** @type {string} */ runId) => this.#follow(turn, stage, runId),
      onLost: (/** @type {boolean} */ lost) => this.#lose(turn, lost),
    };
    try {
      turn.run = await ask(question, listener, stream.signal);
      this.thread = turn.run.thread_id ?? this.thread;
      announce(spoken(turn.run));
    } catch (error) {
      this.#fail(turn, error);
    }
    turn.endedAt = performance.now();
    this.running = null;
    this.changed();
  }

  stop() {
    if (!this.running || this.running.turn.stopped) return;
    const { turn, stream } = this.running;
    turn.stopped = true;
    announce(strings.stopping);
    this.changed();
    if (!turn.runId) return stream.abort();
    // The server answers on the stream, with status `cancelled`, or with the result if that was faster.
    cancelRun(turn.runId).catch(() => {});
    setTimeout(() => stream.abort(), STOP_PATIENCE_MS);
  }

  /**
   * @param {Turn} turn
   * @param {Stage} stage
   */
  #enter(turn, stage) {
    if (!turn.entered.has(stage)) turn.entered.set(stage, performance.now());
    announce(strings.stages[stage]);
    this.changed();
  }

  /**
   * @param {Turn} turn
   * @param {Stage} stage
   * @param {string} runId
   */
  #follow(turn, stage, runId) {
    turn.runId = runId;
    if (!turn.stopped) this.#enter(turn, stage);
  }

  /**
   * @param {Turn} turn
   * @param {boolean} lost
   */
  #lose(turn, lost) {
    turn.lost = lost;
    if (lost) announce(strings.reconnecting);
    this.changed();
  }

  /**
   * Text that could not be asked goes back into the field, unless something new stands there.
   * @param {Turn} turn
   * @param {unknown} error
   */
  #fail(turn, error) {
    turn.error = turn.stopped ? new ApiError(strings.faults.stopUnconfirmed, 0) : asApiError(error);
    if (!turn.stopped) this.draft ||= turn.question;
    announce(turn.error.fault.message);
  }
}

/** @param {Run} run */
function spoken({ status, result, clarification, assistant_message: message }) {
  if (clarification) return clarification.question;
  if (result.error) return result.error.message;
  return status === "succeeded" ? strings.answered(message, result.row_count) : message;
}
