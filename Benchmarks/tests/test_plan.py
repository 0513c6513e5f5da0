"""The seed determines the world."""

import collections
import unittest

from webworld import plan

PHOTOS = ["a.jpg", "b.png", "c.webp"]


class PlanTests(unittest.TestCase):
    def test_seed_determines_hosts_and_list(self):
        self.assertEqual(plan.make_plan(3, 400, PHOTOS), plan.make_plan(3, 400, PHOTOS))
        self.assertNotEqual(plan.make_plan(3, 400, PHOTOS).entries, plan.make_plan(4, 400, PHOTOS).entries)

    def test_all_habits_occur_in_a_large_world(self):
        large = plan.make_plan(1, 20_000, PHOTOS)
        hosts = collections.Counter(host.habit for host in large.hosts)
        for name, habit in plan.HABITS.items():
            share = hosts[name] / len(large.hosts)
            self.assertTrue(0.6 * habit.share < share < 1.4 * habit.share, f"{name}: {share}")
        truths = {entry.truth for entry in large.entries}
        self.assertEqual(truths, {habit.truth for habit in plan.HABITS.values()} | {"cut"})
        self.assertTrue(0.75 < large.available / 20_000 < 0.95, large.available)

    def test_calm_worlds_have_every_photo(self):
        calm = plan.make_plan(1, 500, PHOTOS, calm=True)
        self.assertEqual(calm.available, 500)
        self.assertEqual({host.habit for host in calm.hosts}, {"good"})

    def test_small_worlds_have_targets_for_redirects(self):
        for seed in range(50):
            for host in plan.make_plan(seed, 30, PHOTOS).hosts:
                self.assertEqual(host.habit == "moved", host.target != "")

    def test_urls_differ(self):
        entries = plan.make_plan(1, 1000, PHOTOS).entries
        self.assertEqual(len({entry.url for entry in entries}), 1000)


if __name__ == "__main__":
    unittest.main()
