//! Landlock: of all files, only the readable ones and the scratch directory remain.

use super::staging::Stage;
use crate::cgroup::own_limit_files;
use crate::handshake::Failure;
use crate::probe::Tier;
use crate::spec::{Read, Spec, T1_DATA};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};
use std::fs::File;
use std::path::{Path, PathBuf};

const READ_FILE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile});
const READ_TREE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});
/// A database and its journal: regular files, nothing to execute.
const WRITE_TREE: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | Truncate | MakeReg | RemoveFile});
/// Regular files and directories only, nothing to execute.
const SCRATCH: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir
});

/// Opens every readable path as the worker's user, so that a closed one is named before the work starts.
pub(super) fn require_readable(spec: &Spec, stage: Option<&Stage>) -> Result<(), Failure> {
    for read in &spec.reads {
        let path = match (stage, spec.tier) {
            (Some(stage), _) => stage.read(&read.inside),
            (None, Tier::Container) => read.inside.clone(),
            (None, _) => read.real.clone(),
        };
        File::open(path).map_err(|e| Failure::Unreadable { path: read.name.clone(), reason: e.to_string() })?;
    }
    Ok(())
}

pub(super) fn restrict(spec: &Spec) -> Result<(), String> {
    let mut rules = handle_everything(spec).map_err(|e| e.to_string())?;
    for (path, access) in allowed(spec) {
        let opened = PathFd::new(&path).map_err(|e| e.to_string())?;
        rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(|e| format!("`{}`: {e}", path.display()))?;
    }
    let status = rules.restrict_self().map_err(|e| e.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Everything that the probed ABI knows is refused, and a kernel that knows less is an error.
fn handle_everything(spec: &Spec) -> Result<RulesetCreated, RulesetError> {
    let abi = abi(spec);
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    rules = rules.handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    rules.create()
}

/// What is let through again.
fn allowed(spec: &Spec) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let mut paths = match spec.tier {
        Tier::T1 => vec![(PathBuf::from(T1_DATA), READ_TREE)],
        Tier::T2 | Tier::Container => {
            let place = |read: &Read| if spec.tier == Tier::T2 { read.real.clone() } else { read.inside.clone() };
            let access = |path: &Path| if path.is_dir() { READ_TREE } else { READ_FILE };
            let reads = spec.reads.iter().map(place).map(|path| (path.clone(), access(&path)));
            reads.chain(own_limit_files().into_iter().map(|file| (file, READ_FILE))).collect()
        }
    };
    for read in spec.reads.iter().filter(|read| read.write) {
        let place = if spec.tier == Tier::T2 { &read.real } else { &read.inside };
        paths.push((place.clone(), WRITE_TREE & AccessFs::from_all(abi(spec))));
    }
    // An older ABI does not know all of these rights.
    paths.push((spec.tmp.clone(), SCRATCH & AccessFs::from_all(abi(spec))));
    paths.push(("/dev/urandom".into(), READ_FILE));
    paths.push(("/dev/null".into(), make_bitflags!(AccessFs::{ReadFile | WriteFile})));
    paths
}

fn abi(spec: &Spec) -> ABI {
    ABI::from(i32::try_from(spec.landlock_abi).unwrap_or(0))
}
