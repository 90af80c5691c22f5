/** All conversations of this visit: one for each dataset, and those that were opened by their address. */
import { getRun, listRuns } from "../api/endpoints.js";
import { rename } from "../router.js";
import { Store } from "../store.js";
import { Conversation, Turn } from "./conversation.js";

/** @typedef {import("../api/types.js").Dataset} Dataset */
/** @typedef {import("../api/types.js").Run} Run */

const KEY = "gatehouse.dataset";
/** Turns of a thread that are shown again. */
const TURNS = "30";

class Conversations extends Store {
  /** @type {Map<string, Conversation>} */
  #byDataset = new Map();

  /**
   * The conversation about a dataset, or a new one.
   * @param {Dataset} dataset
   */
  about(dataset) {
    const known = this.#byDataset.get(dataset.id);
    return known ?? this.#keep(new Conversation(dataset));
  }

  /**
   * The dataset that was chosen last, here or on an earlier visit.
   * @param {Dataset[]} datasets
   */
  chosen(datasets) {
    const last = localStorage.getItem(KEY);
    return datasets.find(({ id }) => id === last) ?? /** @type {Dataset} */ (datasets[0]);
  }

  /** @param {Dataset} dataset */
  choose(dataset) {
    localStorage.setItem(KEY, dataset.id);
    const { thread } = this.about(dataset);
    rename(thread ? `/t/${thread}` : "/");
    this.changed();
  }

  /** @param {Dataset} dataset */
  restart(dataset) {
    this.#keep(new Conversation(dataset));
    this.choose(dataset);
  }

  /**
   * Goes on with what is on record: the question, the SQL, or nothing yet stands in the field.
   * @param {Dataset} dataset
   * @param {string | null} thread
   * @param {string} draft
   */
  take(dataset, thread, draft) {
    const conversation = this.#keep(new Conversation(dataset, thread));
    conversation.draft = draft;
    this.choose(dataset);
    return conversation;
  }

  /**
   * The conversation of a thread, from this visit or from the record.
   * @param {string} thread
   * @param {Dataset[]} datasets
   * @returns {Promise<Conversation | undefined>}
   */
  async open(thread, datasets) {
    const here = [...this.#byDataset.values()].find((conversation) => conversation.thread === thread);
    if (here) return here;
    const { runs } = await listRuns({ thread_id: thread, limit: TURNS });
    const dataset = datasets.find(({ id }) => id === runs[0]?.dataset_id);
    if (!dataset) return undefined;
    const bodies = await Promise.all(runs.map(({ run_id: id }) => getRun(id)));
    const conversation = new Conversation(dataset, thread);
    const ended = /** @type {Run[]} */ (bodies.filter((run) => run.status !== "running"));
    conversation.turns = ended.reverse().map((run) => Turn.of(run));
    return this.#keep(conversation);
  }

  /** @param {Conversation} conversation */
  #keep(conversation) {
    this.#byDataset.set(conversation.dataset.id, conversation);
    conversation.subscribe(() => {
      const shown = location.pathname === "/" && this.#byDataset.get(conversation.dataset.id) === conversation;
      if (shown && conversation.thread && localStorage.getItem(KEY) === conversation.dataset.id) {
        rename(`/t/${conversation.thread}`);
      }
    });
    return conversation;
  }
}

export const conversations = new Conversations();
