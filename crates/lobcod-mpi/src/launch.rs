//! Starts ranks on this machine.

use std::process::Command;

/// `mpirun -n RANKS` (or the program given by `LOBCOD_MPIRUN`, such as `mpirun.mpich`), which may
/// start more ranks than there are cores. The caller adds the program to start.
pub fn launcher(ranks: usize) -> Command {
    let mut command =
        Command::new(std::env::var_os("LOBCOD_MPIRUN").unwrap_or_else(|| "mpirun".into()));
    // As variables, which MPICH ignores, not as options, which it would reject: Open MPI 4, then 5.
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command.args(["-n", &ranks.to_string()]);
    command
}
