//! Caller + contracts + Proposal to Approved or Refusal. Pure and synchronous.
