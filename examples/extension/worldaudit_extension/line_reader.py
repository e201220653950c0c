"""An embedded judge that reads the picture: the side of the robot's red on which the flag's green is."""

import io

import numpy as np
from PIL import Image


class JUDGE:
    version = 1

    def answer(self, message):
        pixels = np.asarray(Image.open(io.BytesIO(message.images[-1])).convert("RGB")).astype(int)
        red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
        robot = np.flatnonzero(((red > 180) & (green < 90)).any(axis=0)).mean()
        flag = np.flatnonzero(((green > 140) & (red < 90) & (blue < 100)).any(axis=0)).mean()
        return "left" if flag < robot else "right"
