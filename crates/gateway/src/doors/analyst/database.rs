//! Which data a model answers from, and whether it may be opened at all.

use crate::datasets::Dataset;
use crate::{CannotOpen, House};
use domain::{Caller, Fault, Kind};

/// What all models of the house are called before their own name.
pub const PROVIDER: &str = "claude-da/";
/// The model of the specification.
pub const ANALYST: &str = "analyst";

/// The dataset behind a model: the Analyst's own, or any other that the caller may see. The provider's name may be
/// left out, as LiteLLM does.
pub async fn behind<'h>(house: &'h House, caller: &Caller, model: &str) -> Result<&'h Dataset, Fault> {
    let name = model.strip_prefix(PROVIDER).unwrap_or(model);
    if name != ANALYST {
        return house.dataset(caller, name).await.map(|(dataset, _)| dataset).map_err(|fault| no_model(model, fault));
    }
    let Some(dataset) = house.datasets.analysts() else {
        return Err(Fault::new(Kind::Unavailable, "database_unavailable", "there is no database behind this model")
            .hint("set `CLAUDE_DA_DB_PATH` to a SQLite file and start the server again"));
    };
    house.dataset(caller, &dataset.id).await.map(|(dataset, _)| dataset).map_err(|fault| no_model(model, fault))
}

/// A dataset that is not there, or of which the caller may see nothing, is a model that does not exist.
fn no_model(model: &str, fault: Fault) -> Fault {
    if fault.kind != Kind::NotFound {
        return fault;
    }
    let shown: String = model.chars().take(64).collect();
    Fault::new(Kind::NotFound, "model_not_found", format!("there is no model `{shown}`"))
        .hint("`GET /v1/models` lists those that you can use")
}

/// Before anything is answered: the Analyst's database can be read, and could not be written to even without a jail.
pub async fn examine(house: &House) -> Result<(), CannotOpen> {
    let Some(dataset) = house.datasets.analysts() else { return Ok(()) };
    let path = house.config.analyst.db_path.display();
    match house.engines.user_can_write(&dataset.source) {
        Ok(false) => {}
        Ok(true) => {
            let hint = format!("hint: take the right to write to `{path}` from the workers' user (`chmod a-w` it)");
            return Err(CannotOpen(vec!["Database is not read-only. Refusing to start.".to_owned(), hint]));
        }
        Err(error) => return Err(format!("whether `{path}` is read-only cannot be tried: {error}").into()),
    }
    house.schema(dataset).await.map(drop).map_err(|fault| {
        CannotOpen(vec![format!("the schema of `{path}` cannot be read: {fault}"), format!("hint: {}", fault.hint)])
    })
}
