"""An embedded judge that sees nothing: left, and whoever told it to look again hears the other side."""


class JUDGE:
    version = 1

    def answer(self, message):
        return "Right." if "You said left" in message.text else "Left."
