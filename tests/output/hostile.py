"""A session whose every text tries to be more than text."""

from __future__ import annotations

from tests.output.timelines import Story

SCRIPT = "<script>document.title='hacked'</script>"
TEXTS = (
    SCRIPT,
    "</pre></article></script><img src=x onerror=\"document.title='hacked'\">",
    "&lt;b&gt; &amp; &#x3c;script&#x3e;",
    "abc\u202edlrow\u202c \u2066isolated\u2069 \u200fmark",
    "line\u2028separator\u2029paragraph\x85next",
    "\x1b[31mred\x1b]0;title\x07 \x00nul \x7f \u200bzero \ufeffmark",
    "\" onclick=\"document.title='hacked'\" x='",
    "{{rows}} {{script}} ]]> --> <!-- <svg onload=document.title='hacked'>",
    "javascript:document.title='hacked'",
    "שלום عالم hello",
    "lone \ud800 surrogate",
)


def tell_attacks() -> Story:
    story = Story()
    for number, text in enumerate(TEXTS):
        text = text.encode("utf-8", "replace").decode()
        story.start(10 * number, text)
        story.ask(10 * number, 10 * number + 1, 1, f"r{number}{text}")
        story.call(10 * number + 1, f"call_{number}{text}", name=text)
        story.finish(10 * number + 2, f"call_{number}{text}", name=text, content=text)
        story.event(10 * number + 3, "provider:request", iteration=2)
        story.event(10 * number + 3, "provider:error", error={"msg": text})
        story.reply(10 * number + 4, text)
    # As the client stores it: a JSON escape, not a byte.
    story.rows.append('{"role": "user", "content": "lone \\ud800 surrogate"}')
    return story
