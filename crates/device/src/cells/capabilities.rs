//! Which of root's rights a script can be given here.

use super::Cell;
use domain::{Fault, Kind};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Those of the network. Any other would open the cell itself.
const GRANTABLE: [&str; 3] = ["NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW"];

/// What this one can give. Our own jail keeps nothing of root's rights: its scripts run in a user namespace, where they
/// would be rights over nothing. So would those of a container whose podman is not root's.
pub fn of(cell: Cell) -> &'static [&'static str] {
    match cell {
        Cell::Bubblewrap => &[],
        Cell::Podman if !is_root() => &[],
        Cell::Podman | Cell::Systemd => &GRANTABLE,
    }
}

/// Refuses what can't be given: without it the script would not do what was approved.
pub fn check(cell: Cell, asked: &[String]) -> Result<(), Fault> {
    let Some(missing) = asked.iter().find(|asked| !of(cell).contains(&asked.as_str())) else { return Ok(()) };
    let message = format!("the capability `{missing}` can't be granted by {}, which holds this script", cell.as_str());
    Err(Fault::new(Kind::Forbidden, "device.capability", message)
        .hint("let `podman`, as root, or `systemd` hold it (`cells` of `device.json`), or do without"))
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jail_grants_nothing_and_others_what_is_of_the_network() {
        let check = |cell, asked: &str| check(cell, &[asked.to_owned()]).map_err(|fault| fault.code);
        let no = || Err("device.capability".to_owned());
        assert_eq!(check(Cell::Bubblewrap, "NET_RAW"), no());
        assert_eq!(check(Cell::Systemd, "NET_RAW"), Ok(()));
        assert_eq!(check(Cell::Podman, "NET_RAW").is_ok(), is_root());
        for cell in Cell::ALL {
            assert_eq!(check(cell, "SYS_ADMIN"), no());
            assert!(super::check(cell, &[]).is_ok());
        }
    }
}
