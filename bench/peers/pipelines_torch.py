"""The rows of input pipelines in PyTorch: a DataLoader with two workers, which make elements in processes of their own."""
import numpy as np
import torch

import calls
import pipelines


class Doubled(torch.utils.data.Dataset):
    """Twice the numbers below pipelines.NUMBERS."""

    def __len__(self):
        return pipelines.NUMBERS

    def __getitem__(self, k):
        return k * 2


def data_range():
    loader = torch.utils.data.DataLoader(Doubled(), batch_size=pipelines.BATCH, num_workers=2, persistent_workers=True)
    return calls.again(lambda: pipelines.consume(loader, lambda batch: batch.numpy()))


def data_shuffle():
    pixels, labels = torch.from_numpy(pipelines.images(1000, 64, 64, 3)), torch.from_numpy(np.arange(1000))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(pixels, labels), batch_size=32, shuffle=True)
    return calls.again(lambda: pipelines.consume(loader, lambda batch: batch[0].numpy()))


ROWS = calls.named(data_range, data_shuffle)
