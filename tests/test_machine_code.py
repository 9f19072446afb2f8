#!/usr/bin/env python3
"""machine_code.py on code of a few lines, whose counts are known."""

import unittest

import machine_code

# A loop of rays (from .L_x_4 on) contains one of rounds (.L_x_0). A round visits a node, which pops or not (.L_x_3),
# with a loop of its own (.L_x_1). There is a way around it to a triangle (.L_x_2). Behind all a function.
NVIDIA = """
ptxas info    : Function properties for compressed
    544 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 96 registers, used 0 barriers, 544 bytes cumulative stack size
.text.compressed:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_4:
        /*0010*/                   S2R R0, SR_TID.X ;
.L_x_0:
        /*0020*/                   LOP3.LUT R24, R24, R25, RZ, 0xc0, !PT ;
        /*0030*/               @P0 BRA `(.L_x_2) ;
        /*0040*/                   BSSY B0, `(.L_x_3) ;
        /*0050*/              @!P1 BRA `(.L_x_3) ;
        /*0060*/                   LDL R23, [R1] ;
.L_x_3:
        /*0070*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0080*/                   LDG.E.128 R8, desc[UR4][R2.64+0x10] ;
        /*0090*/                   LDG.E.128 R12, desc[UR4][R2.64+0x20] ;
        /*00a0*/                   LDG.E.128 R16, desc[UR4][R2.64+0x30] ;
        /*00b0*/                   I2F.U8 R20, R4.B1 ;
.L_x_1:
        /*00c0*/               @P1 FFMA R20, R20, R5, R6 ;
        /*00d0*/               @P1 CALL.REL.NOINC `(.L_x_2) ;
        /*00e0*/                   BRA `(.L_x_1) ;
.L_x_2:
        /*00f0*/              @!P2 BRA `(.L_x_0) ;
        /*0100*/                   FMNMX R21, R20, R7, !PT ;
        /*0110*/                   FSETP.GT.AND P1, PT, R20, R21, PT ;
        /*0120*/                   BRA P1, `(.L_x_0) ;
        /*0130*/                   CALL.REL.NOINC `($__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath) ;
        /*0140*/                   STG.E desc[UR4][R2.64], R20 ;
        /*0150*/               @P0 BRA `(.L_x_4) ;
        /*0158*/                   EXIT ;
$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath:
        /*0160*/                   MUFU.RCP R14, R9 ;
        /*0170*/                   RET.REL.NODEC R16 `(compressed) ;
"""

# The same with a triangle that reads a vertex, and goes on behind its short test.
TRIANGLES = NVIDIA.replace(
    "/*0120*/                   BRA P1, `(.L_x_0) ;",
    """/*0120*/                   LDG.E R22, desc[UR4][R2.64] ;
        /*0122*/                   BRA P1, `(.L_x_0) ;
        /*0124*/                   MUFU.RCP R23, R22 ;
        /*0126*/               @P3 BRA `(.L_x_0) ;""",
)

# Two loops of boxes in local memory, in one of tiles; the first reads twice as much.
AMD_LOOP = "{label}:\n" + "\tds_read2_b32 v[0:1], v2\n{reads}" + "\tv_max_f32_e32 v0, v1, v2\n" * 48
AMD_LOOP += "\ts_cbranch_execnz {label}\n"
AMD = (
    "\ts_load_dwordx4 s[0:3], s[4:5], 0x0 ; a comment: v_fma_f32\n.LBB0_3:\n\ts_barrier\n"
    + AMD_LOOP.format(label=".LBB0_1", reads="\tds_read2_b32 v[0:1], v2\n" * 23)
    + "\tv_dual_fmac_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6\n\ts_delay_alu instid0(VALU_DEP_1)\n"
    + AMD_LOOP.format(label=".LBB0_2", reads="\tds_read2_b32 v[0:1], v2\n" * 11)
    + "\tbuffer_store_dword v1, off, s[0:3], 0 ; 4-byte Folded Spill\n\ts_cbranch_scc1 .LBB0_3\n\ts_endpgm\n"
    + "; NumVgprs: 128\n; ScratchSize: 16\n"
)


def known(instructions):
    return {name: count for name, count in machine_code.counts(instructions).items() if count}


class MachineCode(unittest.TestCase):
    def test_a_round_is_split_and_loops_inside_are_left_out(self):
        code = machine_code.nvidia_code(NVIDIA)
        self.assertEqual(code.figures, {"registers": 96, "spilt": 8, "frame": 544})
        parts = machine_code.parts_of("compressed-query0", machine_code.Graph(code))
        self.assertEqual(known(parts["node"]), {"global": 4, "convert": 1, "private": 1, "branch": 2})
        self.assertEqual(known(parts["triangle"]), {"integer": 1, "minmax": 1, "select": 1, "branch": 3})

    def test_of_triangles_what_lies_behind_the_short_test_is_told_apart(self):
        graph = machine_code.Graph(machine_code.nvidia_code(TRIANGLES))
        parts = machine_code.parts_of("compressed-query0-kinds16", graph)
        self.assertEqual(known(parts["triangle"]), {"integer": 1, "minmax": 1, "select": 1, "global": 1, "branch": 3})
        self.assertEqual(known(parts["exact"]), {"other": 1, "branch": 1})
        self.assertEqual(known(parts["node"]), {"global": 4, "convert": 1, "private": 1, "branch": 2})

    def test_functions_behind_the_kernel_do_not_count(self):
        code = machine_code.nvidia_code(NVIDIA)
        self.assertEqual(
            known(code.instructions),
            dict.fromkeys(["constant", "move", "convert", "minmax", "private", "integer", "select", "store", "fma"], 1)
            | {"global": 4, "branch": 10},
        )

    def test_tiles_are_told_apart_by_their_reads(self):
        code = machine_code.amd_code(AMD)
        self.assertEqual(code.figures, {"registers": 128, "spilt": 4, "frame": 16})
        parts = machine_code.parts_of("flat-query0", machine_code.Graph(code))
        self.assertEqual(known(parts["alike"]), {"local": 12, "minmax": 48, "branch": 1})
        self.assertEqual(known(parts["others"]), {"local": 24, "minmax": 48, "branch": 1})

    def test_both_of_a_pair_count_and_hints_do_not(self):
        counts = known(machine_code.amd_code(AMD).instructions)
        self.assertEqual(counts["fma"], 1)
        self.assertEqual(counts["mul"], 1)
        self.assertNotIn("other", counts)

    def test_growth_by_more_than_a_twentieth_is_a_fault(self):
        key = ("compressed-query0-kinds16", "sm_90", "node")
        self.assertEqual(machine_code.faults({key: {"all": 105, "fma": 0}}, {key: {"all": 100, "fma": 9}}), [])
        for now in {"all": 106, "fma": 0}, {"all": 100, "fma": 1}:
            self.assertEqual(len(machine_code.faults({key: now}, {key: {"all": 100, "fma": 0}})), 1)

    def test_a_part_in_one_alone_is_a_fault(self):
        kernel, node = (("compressed-query0-kinds16", "sm_90", part) for part in ("kernel", "node"))
        self.assertEqual(len(machine_code.faults({kernel: {}}, {kernel: {}, node: {}})), 1)
        self.assertEqual(len(machine_code.faults({kernel: {}, node: {}}, {kernel: {}})), 1)

    def test_a_table_is_read_as_it_is_written(self):
        rows = {("flat-query2-kinds4", "gfx906", "kernel"): {name: at for at, name in enumerate(machine_code.COLUMNS)}}
        makers = ["gfx: clang 15"]
        read, again = machine_code.read_table(machine_code.table(rows, makers))
        self.assertEqual(again, rows)
        self.assertIn(makers[0], read)


if __name__ == "__main__":
    unittest.main()
