"""The models of the benchmark in PyTorch's own layers, pictures channels-last."""
import torch

import calls


def trained(model_of, data):
    def make():
        x, y = map(torch.from_numpy, data())
        model = model_of()
        optimizer = torch.optim.SGD(model.parameters(), 0.01)

        def step():
            optimizer.zero_grad()
            loss = torch.mean(torch.square(model(x) - y))
            loss.backward()
            optimizer.step()
            return loss.detach()
        return calls.again(lambda: step().numpy())
    return make


def dense(rows):
    """A function that trains the small dense model for one batch and returns the loss, the model, and the data."""
    x, y = map(torch.from_numpy, calls.dense(rows))
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(),
                                torch.nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step, model, x, y.long()


def dense_fit():
    step, _, x, y = dense(10_000)

    def epoch():
        order, total = torch.randperm(len(x)), torch.zeros(())
        for chosen in order.split(32):
            total += step(x[chosen], y[chosen])
        return total.item()
    return calls.again(epoch)


def dense_call():
    _, model, x, _ = dense(1)

    def call():
        with torch.inference_mode():
            return model(x).numpy()
    return calls.again(call)


def dense_batch():
    step, _, x, y = dense(32)
    return calls.again(lambda: step(x, y).numpy())


class Lstm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.last = torch.nn.LSTM(64, 128, batch_first=True), torch.nn.Linear(128, 1)

    def forward(self, x):
        return self.last(self.lstm(x)[0][:, -1])


def transformer():
    return torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, activation="gelu", batch_first=True)


def classifier(row):
    def make():
        x, y = map(torch.from_numpy, calls.labelled(row))
        x = x.permute(0, 3, 1, 2)  # a view, which is channels-last
        layers = torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32 * (x.shape[2] - 2) ** 2, 10)
        model = torch.nn.Sequential(*layers).to(memory_format=torch.channels_last)
        optimizer = torch.optim.Adam(model.parameters())

        def step():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y.long())
            loss.backward()
            optimizer.step()
            return loss.detach()
        return calls.again(lambda: step().numpy())
    return make


def normed(inputs, outputs, size, stride=1):
    return torch.nn.Sequential(torch.nn.Conv2d(inputs, outputs, size, stride, size // 2), torch.nn.BatchNorm2d(outputs))


class Block(torch.nn.Module):
    """A residual block as Keras's ResNet50 has it: the stride is in the first convolution."""

    def __init__(self, inputs, width, stride, project):
        super().__init__()
        relu = torch.nn.ReLU(inplace=True)
        self.short = normed(inputs, 4 * width, 1, stride) if project else torch.nn.Identity()
        self.path = torch.nn.Sequential(normed(inputs, width, 1, stride), relu, normed(width, width, 3), relu,
                                        normed(width, 4 * width, 1))

    def forward(self, x):
        return torch.relu_(self.path(x) + self.short(x))


def resnet50():
    layers = [normed(3, 64, 7, 2), torch.nn.ReLU(inplace=True), torch.nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, depth in enumerate([3, 4, 6, 3]):
        width = 64 << stage
        for k in range(depth):
            layers.append(Block(inputs, width, 2 if stage and k == 0 else 1, k == 0))
            inputs = 4 * width
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(2048, 1000),
                               torch.nn.Softmax(-1))


def resnet(batch):
    def make():
        model = resnet50().eval().to(memory_format=torch.channels_last)
        x = torch.from_numpy(calls.pictures(batch)).permute(0, 3, 1, 2)  # a view, which is channels-last

        def call():
            with torch.inference_mode():
                return model(x).numpy()
        return calls.again(call)
    return make


ROWS = {**calls.named(dense_fit, dense_call, dense_batch), "dense_step": dense_batch,
        "lstm": trained(Lstm, calls.sequences), "transformer": trained(transformer, calls.tokens),
        **{row: classifier(row) for row in calls.CLASSIFIED}, "resnet_1": resnet(1), "resnet_8": resnet(8)}
