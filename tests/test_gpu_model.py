#!/usr/bin/env python3
"""gpu_model.py on counts with known rays per second, and that the committed table is its result for the others.

test_gpu_model.py RESULTS      the folder with machine_code.txt, divergence.txt and gpu_model.txt
"""

import sys
import unittest
from pathlib import Path

import gpu_model
import machine_code

results = Path(sys.argv.pop(1))
NOTHING = dict.fromkeys(["all", *machine_code.CLASSES], 0)
CARD = gpu_model.Card("sm_90", 32, 10, 1e9, 512, 8, 16, 64e9)


class Model(unittest.TestCase):
    def test_the_busier_half_of_a_unit_decides(self):
        self.assertEqual(gpu_model.clocks({**NOTHING, "all": 100, "fma": 60, "integer": 40}, CARD), 100)
        self.assertEqual(gpu_model.clocks({**NOTHING, "all": 100, "fma": 20, "integer": 50, "minmax": 30}, CARD), 160)
        self.assertEqual(gpu_model.clocks({**NOTHING, "all": 100, "convert": 48}, CARD), 384)

    def test_scalar_instructions_go_beside_those_of_lanes(self):
        amd = CARD._replace(target="gfx906", lanes=64)
        self.assertEqual(gpu_model.clocks({**NOTHING, "all": 100, "branch": 10, "constant": 15}, amd), 300)

    def test_registers_bound_the_warps(self):
        self.assertEqual(
            [gpu_model.resident(count, CARD) for count in (16, 32, 33, 96, 97, 128)], [16, 16, 12, 5, 4, 4]
        )

    def test_a_warp_takes_its_steps_and_the_rest_once(self):
        kernel = {**NOTHING, "all": 1000, "registers": 16}
        parts = [{**NOTHING, "all": count} for count in (300, 200, 150)]
        steps = gpu_model.Steps(taken=(5, 2.5, 0.5), bytes=32 * 128)
        predicted = gpu_model.predict(CARD, kernel, parts, steps)
        self.assertAlmostEqual(predicted.rays, 32 * 10 * 1e9 / (5 * 300 + 2.5 * 200 + 0.5 * 150 + 350))
        self.assertAlmostEqual(predicted.from_memory, 64e9 / 128)

    def test_few_warps_wait(self):
        kernel = {**NOTHING, "all": 100, "registers": 255}
        node = {**NOTHING, "all": 100}
        predicted = gpu_model.predict(CARD, kernel, [node], gpu_model.Steps((1,), 1))
        self.assertAlmostEqual(predicted.rays, 32 * 10 * 1e9 / ((100 + gpu_model.WAIT) / 2))

    def test_divergence_is_read_by_scene_rays_query_and_lanes(self):
        text = "# a head\na:1 random any 32 64 9 2.0 5.0 0.5 3.0 0.5 1.5 0.5 4 1 1 6\n"
        text += "a:1 random any 64 64 9 2.0 7 0.5 3 0.5 1.5 0.5 4 1 1 6\n"
        (row,) = gpu_model.read_divergence(text)
        self.assertEqual(row[:3], ("a:1", "random", "any"))
        self.assertEqual(row.steps[32], gpu_model.Steps((5.0, 3.0, 1.5), 5 * 4 * 96 + 2 * 32 * 64))
        self.assertEqual(row.steps[64].taken[0], 7.0)

    def test_the_table_is_that_of_the_counts(self):
        _, code = machine_code.read_table((results / "machine_code.txt").read_text())
        made = gpu_model.table(code, gpu_model.read_divergence((results / "divergence.txt").read_text()))
        self.assertEqual((results / "gpu_model.txt").read_text(), made + "\n", "./dev gate --model makes it anew")


if __name__ == "__main__":
    unittest.main()
