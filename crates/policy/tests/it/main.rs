//! Policy from outside: contracts, views, SQL and plans over one small law firm.

mod access;
mod contracts;
mod fixture;
mod invariants;
mod plans;
mod sealed;
mod sql;
