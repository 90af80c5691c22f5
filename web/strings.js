// @ts-check
/** Every English word of the page. A translation replaces this module and nothing else. */

const count = (/** @type {number} */ n, /** @type {string} */ one, many = `${one}s`) =>
  `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** Texts that index.html names with `data-text`. */
export const page = {
  pageTitle: "Ask your data",
  skipToQuestion: "Skip to the question",
  datasets: "Datasets",
  question: "Your question",
  send: "Send",
  stop: "Stop",
  keys: "Enter or Ctrl+Enter to send, Shift+Enter for a new line",
  newConversation: "New conversation",
  signOut: "Sign out",
};

export const strings = {
  placeholder: (/** @type {string} */ name) => `Ask about ${name}`,
  followUp: "Ask a follow-up",
  hero: "What would you like to know?",
  heroNote: "Ask in plain words. Each question becomes a plan, is checked against policy, runs in a sandbox that can only read, and is kept on record.",
  suggestions: "Suggested questions",
  tables: (/** @type {number} */ n) => count(n, "table"),
  noDatasets: "There are no datasets yet",
  noDatasetsHint: "Add one to `registry.json` in the datasets folder, or start the server with `--demo`.",

  planner: (/** @type {string} */ name) => (name === "offline" ? "Offline planner" : `Planner: ${name}`),
  plannerOffline: "No model is called: the server reads the question by itself.",
  plannerModel: "A language model writes the plan. Policy checks it like anything else.",
  role: (/** @type {string} */ actor, /** @type {string} */ role) => `${actor} · ${role}`,

  signInTitle: "Sign in",
  signInLead: "Open the sign-in link that Gatehouse printed when it started.",
  signInWhere: "You find it in the terminal where `make run` or `gatehouse serve` is running. The link works once and signs this browser in.",
  signInAgain: "Link already used, or scrolled out of sight? Start the server again and it prints a new one.",
  signedIn: "I have signed in",
  unreachableTitle: "Gatehouse could not be loaded",
  tryAgain: "Try again",

  stages: { planning: "Planning", validating: "Validating", executing: "Executing" },
  stagesDone: { planning: "Planned", validating: "Validated", executing: "Executed" },
  stopping: "Stopping",
  answered: (/** @type {string} */ sentence, /** @type {number} */ rows) => `${sentence} ${count(rows, "row")}.`,
  status: {
    succeeded: "Answered",
    failed: "Failed",
    refused: "Refused",
    clarify: "One question back",
    cancelled: "Stopped",
  },
  cancelled: "Stopped. Nothing more runs for this question.",
  chooseOne: "Choose one, or answer in your own words below.",
  hint: "What to do",

  rows: (/** @type {number} */ n) => count(n, "row"),
  noRows: "No rows match.",
  noValue: "no value",
  resultOf: (/** @type {string} */ question) => `Result of: ${question}`,
  showAll: (/** @type {number} */ n) => `Show all ${n.toLocaleString("en")} rows`,
  shown: (/** @type {number} */ n, /** @type {number} */ all) =>
    `${n.toLocaleString("en")} of ${count(all, "row")} shown`,
  truncated: (/** @type {number} */ n) =>
    `The result is cut off: only the first ${count(n, "row")} came back. Ask for a total or a narrower period to see the whole.`,
  filteredBy: (/** @type {string[]} */ names) =>
    `Your role sees only some rows of ${names.map((n) => `\`${n}\``).join(", ")}. The answer covers those rows.`,

  details: "How this was answered",
  detailsNoAnswer: "What happened",
  reading: "Understood as",
  runStatus: "Status",
  runtime: "Runtime",
  runtimeParts: (/** @type {string[]} */ parts) => parts.join(" · "),
  plannerLabel: "Planner",
  queryMode: "Query mode",
  queryModes: { plan: "plan", sql: "SQL" },
  policy: "Policy",
  policyFingerprint: "Policy fingerprint",
  contract: (/** @type {string} */ name, /** @type {string} */ version) => `${name} (version ${version})`,
  sandbox: "Sandbox tier",
  unenforced: (/** @type {string[]} */ names) => `not enforced here: ${names.join(", ")}`,
  dataVersion: "Data version",
  runId: "Run",
  otherRuns: "All runs of this question",
  requestId: "Request",
  plan: "Plan",
  sql: "SQL",
  params: "Values bound to it",

  connection: {
    type: "CONNECTION",
    code: "page.server_unreachable",
    message: "the server could not be reached",
    hint: "check that Gatehouse is still running, then try again",
  },
  brokenStream: (/** @type {string | undefined} */ runId) => ({
    type: "CONNECTION",
    code: "page.stream_broken",
    message: "the connection ended before the answer arrived",
    hint: runId ? `the server keeps the record of run \`${runId}\`; try again to ask once more` : "try again",
  }),
  stopUnconfirmed: {
    type: "CONNECTION",
    code: "page.stop_unconfirmed",
    message: "the page stopped waiting, and the server has not confirmed that it stopped",
    hint: "a question that still runs ends by itself at its time limit",
  },
  badReply: (/** @type {number} */ status) => ({
    type: "CONNECTION",
    code: "page.unreadable_reply",
    message: `the server sent a reply that this page cannot read (HTTP ${status})`,
    hint: "reload the page; if it stays, look at the server's log",
  }),
};
