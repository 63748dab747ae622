"""What a package with a metric should test: it prefers a reason that is known, on a model that can be written down."""

import torch
from lone_loss import lone_loss

from faithlib.perturb import SetFunction


def test_the_reason_is_preferred_to_its_opposite():
    model = SetFunction(lambda keep: 0.5 + 0.4 * keep[:, 1].float(), 4)  # the second of four words is the reason
    truth = torch.tensor([[0.0, 1.0, 0.0, 0.0]])
    # Without the second word .9 becomes .5; it is one of two in its half.
    assert torch.allclose(lone_loss(model, truth), torch.tensor([0.2]))
    assert torch.allclose(lone_loss(model, -truth), torch.tensor([-0.2]))
