# SPDX-License-Identifier: Apache-2.0
"""A network of the shape of Inception v3, with an eighth of the channels."""

import inception_v3
from case import Cases

CASES = Cases()


def narrow():
    c = CASES.new("inception v3")
    size = inception_v3.SIZE
    image = c.input([1, size, size, 3], low=-1, high=1, name="input", shape=[None, size, size, 3])
    c.gives(*inception_v3.build(c, image, 1 / 8))


narrow()
