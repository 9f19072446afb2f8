# shellcheck shell=bash disable=SC2034 # the scripts use the variables
# Functions that the scripts of this folder share. Source it with the arguments MPIRUN SLABCAST_MPI SLOW_LAYER
# [MAKE_NPY]. Then on N PROGRAM_OPTION... runs slabcast-mpi on N ranks.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh" || exit 1
mpirun=$1 program=$2 slow_layer=$3 make_npy=${4-}
# LD_PRELOAD for the slow layer: the address sanitizer, where the program has it, must be the first.
slow_preload=$(ldd "$program" | awk '/libasan/ { print $3 ":" }')$slow_layer

# Permits Open MPI to run as root and with more ranks than cores, for which the mpirun of its version 5 has other names.
# Turns off its warnings about small machines.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_mpi_yield_when_idle=1
# mpirun itself is not to look for OpenCL devices: the tests' layers may need a sanitizer, which it has not.
export HWLOC_COMPONENTS=-opencl
# The ranks share the cores.
export POCL_MAX_PTHREAD_COUNT=1 OMP_NUM_THREADS=1

on() { "$mpirun" -n "$1" "$program" "${@:2}"; }

# The same by special.sh.
on_special() { "$mpirun" -n "$1" ./special.sh "$program" "${@:2}"; }

# special RANK TEXT: special.sh leaves its process's number in pid.RANK and becomes the program; on rank RANK (any: on
# each) it first runs TEXT.
special() {
  cat >special.sh <<END
#!/usr/bin/env bash
rank=\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}}
echo \$\$ >pid.\$rank
if [[ $1 == any || \$rank == $1 ]]; then
  $2
fi
exec "\$@"
END
  chmod +x special.sh
}
