/** What the server sends, as docs/API.md describes it. Types only: nothing loads this. */

/** @typedef {"planning" | "validating" | "executing"} Stage */
/** @typedef {"succeeded" | "failed" | "refused" | "clarify" | "cancelled"} Status */
/** @typedef {{line: number, column: number}} Span */
/** @typedef {{type: string, code: string, message: string, hint?: string | null, span?: Span}} Fault */
/** @typedef {{actor: string, role: string, planner: string}} Session */
/** @typedef {string | number | boolean | null | object} Cell */
/**
 * @typedef {object} Dataset
 * @property {string} id
 * @property {string} name
 * @property {string} description
 * @property {string[]} prompts
 * @property {string | null} version_hash
 * @property {string[]} tables
 * @property {{path: string, bytes: number | null}[]} files
 */
/** @typedef {{name: string, type: string, nullable: boolean, description: string}} SchemaColumn */
/**
 * @typedef {object} SchemaTable
 * @property {string} name
 * @property {string} description
 * @property {number | null} row_count
 * @property {SchemaColumn[]} columns
 * @property {Record<string, Cell>[]} [sample]
 */
/** @typedef {{dataset_id: string, version_hash: string | null, tables: SchemaTable[]}} Schema */
/**
 * Columns are given by their place in the result.
 * @typedef {{kind: "line" | "bar" | "scatter" | "number", x: number | null, y: number, series: number | null}} Chart
 */
/**
 * @typedef {object} Result
 * @property {string[]} columns
 * @property {string[]} types
 * @property {Cell[][]} rows
 * @property {number} row_count
 * @property {boolean} truncated
 * @property {boolean} [result_truncated]
 * @property {Chart | null} chart
 * @property {number | null} exec_time_ms
 * @property {Fault | null} error
 */
/**
 * @typedef {object} Details
 * @property {string} dataset_id
 * @property {string | null} dataset_version_hash
 * @property {"plan" | "sql" | null} query_mode
 * @property {string | null} planner
 * @property {string | null} reading
 * @property {unknown} plan_json
 * @property {string | null} sql_text
 * @property {string | null} compiled_sql
 * @property {Cell[]} params
 * @property {{resource: string, version: string}[]} contracts
 * @property {string} policy_fingerprint
 * @property {string | null} sandbox_tier
 * @property {string[]} unenforced
 * @property {{plan_ms: number, check_ms: number, run_ms: number}} timings
 * @property {string} actor
 * @property {string} role
 * @property {string[]} runs
 */
/**
 * @typedef {object} Run
 * @property {string} run_id
 * @property {string | null} thread_id
 * @property {string} request_id
 * @property {string} created_at
 * @property {Status} status
 * @property {string | null} question
 * @property {string} assistant_message
 * @property {Result} result
 * @property {{question: string, choices: string[]} | null} clarification
 * @property {Details} details
 * @property {string[]} filtered_by
 */
/**
 * A run in a list.
 * @typedef {object} RunSummary
 * @property {string} run_id
 * @property {string | null} thread_id
 * @property {string} created_at
 * @property {string} dataset_id
 * @property {string} actor
 * @property {string | null} question
 * @property {"plan" | "sql" | null} query_mode
 * @property {Status} status
 * @property {number | null} exec_time_ms
 */
/** @typedef {{runs: RunSummary[], next_cursor: string | null}} RunPage */
/**
 * @typedef {object} PolicyState
 * @property {string} policy_fingerprint
 * @property {string[]} roles
 * @property {{resource: string, version: string, dataset_id: string, public: boolean, roles: string[]}[]} contracts
 * @property {string[]} problems
 */
/**
 * @typedef {object} Decision
 * @property {boolean} allowed
 * @property {string} role
 * @property {string | null} compiled_sql
 * @property {Cell[]} params
 * @property {{resource: string, version: string}[]} contracts
 * @property {string[]} filtered_by
 * @property {Fault | null} error
 */
/**
 * @typedef {object} AuditState
 * @property {number} entries
 * @property {{seq: number, hash: string, at: string, key: string} | null} head
 * @property {{seq: number, at: string, kind: string, actor: string | null, role: string | null, run_id: string | null, hash: string}[]} recent
 */
/**
 * @typedef {object} ChainReport
 * @property {boolean} whole
 * @property {number} entries
 * @property {number} signed
 * @property {string | null} unsigned_since
 * @property {number} heads
 * @property {{seq: number, at: string, times: number} | null} reexported
 * @property {number} capsules
 * @property {number} pruned
 * @property {{seq: number | null, kind: string, message: string} | null} flaw
 */
/**
 * @typedef {object} Token
 * @property {string} id
 * @property {string} actor
 * @property {string} role
 * @property {Record<string, string>} claims
 * @property {string} created_at
 * @property {string | null} expires_at
 * @property {string | null} revoked_at
 * @property {boolean} valid
 */

export {};
