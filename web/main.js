// @ts-check
/** The page: one conversation per dataset, one question at a time in each. */
import * as api from "./api.js";
import { h } from "./dom.js";
import { strings } from "./strings.js";
import { Turn } from "./turn.js";
import * as view from "./view.js";

/** How long the server has to confirm a stop before the page lets go of the stream. */
const STOP_PATIENCE_MS = 5000;

/** @typedef {{turn: Turn, stream: AbortController, runId?: string, stopped: boolean}} Running */

class Conversation {
  /** @param {api.Dataset} dataset */
  constructor(dataset) {
    this.dataset = dataset;
    this.list = h("div", { class: "turns" }, view.invitation(dataset, send));
    /** @type {string | undefined} */
    this.threadId = undefined;
    /** @type {Turn[]} */
    this.turns = [];
    /** @type {Running | null} */
    this.run = null;
  }

  get begun() {
    return this.turns.length > 0;
  }

  get running() {
    return this.run !== null;
  }

  /** @param {Turn} turn */
  add(turn) {
    for (const earlier of this.turns) earlier.retire();
    if (this.begun) this.list.append(turn.element);
    else this.list.replaceChildren(turn.element);
    this.turns.push(turn);
  }
}

/** @type {Map<string, Conversation>} */
const conversations = new Map();
/** @type {Conversation} */
let current;

/** @param {api.Dataset} dataset */
function choose(dataset) {
  show(conversations.get(dataset.id) ?? new Conversation(dataset));
}

/** @param {Conversation} conversation */
function show(conversation) {
  conversations.set(conversation.dataset.id, conversation);
  current = conversation;
  draw();
}

const draw = () => view.showConversation(current, send);

/** @param {string} text */
function send(text) {
  if (current.running) return;
  view.clearInput();
  view.focusInput();
  void ask(current, text);
}

/**
 * @param {Conversation} conversation
 * @param {string} message
 */
async function ask(conversation, message) {
  const turn = new Turn(message);
  /** @type {Running} */
  const run = { turn, stream: new AbortController(), stopped: false };
  conversation.run = run;
  conversation.add(turn);
  draw();
  view.reveal(turn.element);
  view.announce(strings.stages.planning);

  const question = { dataset_id: conversation.dataset.id, message, thread_id: conversation.threadId };
  try {
    const payload = await api.ask(question, (stage, runId) => follow(run, stage, runId), run.stream.signal);
    conversation.threadId = payload.thread_id;
    turn.finish(payload, send);
    view.announce(spoken(payload));
  } catch (error) {
    fail(conversation, run, error);
  } finally {
    conversation.run = null;
    draw();
    if (conversation === current) view.revealIfSeen(turn.element);
  }
}

/**
 * @param {Running} run
 * @param {api.Stage} stage
 * @param {string} runId
 */
function follow(run, stage, runId) {
  run.runId = runId;
  if (run.stopped) return;
  run.turn.stage(stage);
  view.announce(strings.stages[stage] ?? stage);
}

/**
 * @param {Conversation} conversation
 * @param {Running} run
 * @param {unknown} error
 */
function fail(conversation, { turn, stopped, runId }, error) {
  const { fault, status, requestId } = error instanceof api.ApiError ? error : new api.ApiError(strings.brokenStream(runId), 0);
  if (!stopped && conversation === current) view.giveBack(turn.question);
  turn.fail(stopped ? strings.stopUnconfirmed : fault, requestId, () => {
    view.clearInput();
    if (!conversation.running) void ask(conversation, turn.question);
  });
  view.announce((stopped ? strings.stopUnconfirmed : fault).message);
  if (status === 401) view.showSignIn(enter);
}

/** @param {api.Payload} payload */
function spoken({ status, result, clarification, assistant_message: message }) {
  if (clarification) return clarification.question;
  if (result?.error) return result.error.message;
  return status === "succeeded" ? strings.answered(message, result?.row_count ?? 0) : message;
}

function stop() {
  const run = current.run;
  if (!run || run.stopped) return;
  run.stopped = true;
  view.stopping();
  run.turn.stopping();
  view.announce(strings.stopping);
  if (!run.runId) return run.stream.abort();
  // The server answers on the stream, with status `cancelled`, or with the result if that was faster.
  api.cancelRun(run.runId).catch(() => {});
  setTimeout(() => run.stream.abort(), STOP_PATIENCE_MS);
}

function restart() {
  if (current.running) return;
  show(new Conversation(current.dataset));
  view.focusInput();
}

async function leave() {
  try {
    await api.signOut();
  } catch {
    // Signed out already, or the server is gone: what the page shows next says which.
  }
  location.reload();
}

/** Signs in with the cookie and shows what it finds; conversations that are already there stay. */
async function enter() {
  try {
    const [session, datasets] = await Promise.all([api.getSession(), api.getDatasets()]);
    if (datasets.length === 0) return view.showNoDatasets();
    view.showSession(session);
    if (conversations.size > 0) return draw();
    view.showDatasets(datasets, choose);
    choose(/** @type {api.Dataset} */ (datasets[0]));
    view.focusInput();
  } catch (error) {
    if (!(error instanceof api.ApiError)) throw error;
    if (error.status === 401) view.showSignIn(enter);
    else view.showUnavailable(error.fault, error.requestId, enter);
  }
}

view.start({ onSend: send, onStop: stop, onRestart: restart, onSignOut: leave });
await enter();
