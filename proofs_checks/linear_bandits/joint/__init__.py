"""The repaired theorems, each as a whole: privacy, regret, batches and horizon of one algorithm, proven together."""
