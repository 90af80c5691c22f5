/** What the Ops door sends, as docs/API.md describes it. Types only: nothing loads this. */

/** @typedef {import("./types.js").Fault} Fault */
/** @typedef {"low" | "medium" | "high"} Risk */
/** @typedef {"waiting" | "refused" | "rejected" | "withdrawn" | "expired" | "sent"} ProposalState */
/** @typedef {"queued" | "claimed" | "done" | "expired" | "unheard" | "withdrawn"} PackageState */
/** @typedef {"exited" | "timed_out" | "out_of_memory" | "output_exceeded" | "killed" | "refused" | "interrupted"} Ending */
/** @typedef {{network: boolean, capabilities: string[], writable_roots: string[]}} Grants */
/**
 * @typedef {object} Device
 * @property {string} id
 * @property {string} name
 * @property {string} created_at
 * @property {string | null} enrolled_at
 * @property {string | null} seen_at
 * @property {Grants | null} grants
 * @property {string | null} sandbox_tier
 * @property {string | null} version
 */
/** @typedef {{device_id: string, code: string, expires_at: string}} EnrolCode */
/** @typedef {{diagnostics_id: string, device_id: string, actor: string, at: string, redacted: number, analysis_id: string | null}} DiagnosticsLine */
/** @typedef {{id: string, parameters: Record<string, string>}} RunbookCall */
/**
 * @typedef {object} Finding
 * @property {string} id
 * @property {string} title
 * @property {"info" | "warning" | "critical"} severity
 * @property {number} confidence
 * @property {string[]} evidence
 * @property {RunbookCall | null} runbook
 */
/**
 * @typedef {object} Analysis
 * @property {string} analysis_id
 * @property {string} diagnostics_id
 * @property {string} device_id
 * @property {string} actor
 * @property {string} at
 * @property {string} planner
 * @property {Finding[]} findings
 */
/**
 * @typedef {object} Manifest
 * @property {"bash" | "sh"} interpreter
 * @property {Record<string, string>} env
 * @property {number} timeout_seconds
 * @property {string} work_dir
 * @property {"none" | "host"} network
 * @property {string[]} writable_paths
 * @property {string[]} capabilities
 * @property {{memory_mb: number, cpu_percent: number, processes: number, output_kb: number, disk_mb: number}} resources
 */
/** @typedef {{script: string, manifest: Manifest, rollback: string | null, intent: string}} Script */
/** @typedef {{risk: Risk, code: string, message: string, line: number}} Reason */
/** @typedef {Fault & {details?: Record<string, unknown> | null}} Violation */
/**
 * What the model that wrote a script says against it: for people, policy does not listen.
 * @typedef {{by: string, hints?: {severity: Finding["severity"], message: string, line: number}[]}} Critique
 */
/** @typedef {{digest: string, violations: Violation[], risk: Risk, reasons: Reason[], commands: string[], critique?: Critique}} Report */
/** @typedef {{actor: string, digest: string, at: string, comment: string, void: boolean}} Approval */
/**
 * A proposal in the inbox.
 * @typedef {object} ProposalLine
 * @property {string} proposal_id
 * @property {string} device_id
 * @property {string} requester
 * @property {string} at
 * @property {number} version
 * @property {string} digest
 * @property {string} intent
 * @property {Risk} risk
 * @property {ProposalState} state
 * @property {string} expires_at
 */
/**
 * @typedef {object} Proposal
 * @property {string} proposal_id
 * @property {string} device_id
 * @property {string | null} analysis_id
 * @property {string} requester
 * @property {string} at
 * @property {number} version
 * @property {string} digest
 * @property {Script} proposal
 * @property {Script | null} previous
 * @property {Report} report
 * @property {Risk} risk
 * @property {ProposalState} state
 * @property {string} expires_at
 * @property {Approval[]} approvals
 * @property {number} approvals_needed
 * @property {string | null} package_id
 */
/**
 * @typedef {object} Result
 * @property {Ending} ending
 * @property {string | null} code
 * @property {number | null} exit_code
 * @property {string} started_at
 * @property {number} duration_ms
 * @property {{cpu_ms: number, output_bytes: number, memory_peak_kb?: number}} usage
 * @property {string | null} sandbox_tier
 * @property {string[]} unenforced
 * @property {boolean} truncated
 */
/**
 * @typedef {object} Package
 * @property {string} package_id
 * @property {string} device_id
 * @property {string} digest
 * @property {string} run_id
 * @property {string} created_at
 * @property {string} expires_at
 * @property {PackageState} state
 * @property {number} claims
 * @property {string | null} heard_at
 * @property {Result | null} result
 * @property {Result | null} undone
 * @property {string} log
 * @property {string} undone_log
 */
/** @typedef {{kind: "path" | "unit" | "host" | "ip" | "number", describe: string, default: string | null}} Parameter */
/** @typedef {{id: string, title: string, intent: string, parameters: Record<string, Parameter>}} Runbook */

export {};
