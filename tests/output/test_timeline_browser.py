"""The page in a real browser: headless Chromium, driven by selenium. Skipped where one of them is missing.

apt-get install chromium chromium-driver; pip install -e '.[dev,browser]'
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor.output.timeline_html import write_page
from tests.output.hostile import SCRIPT, tell_attacks
from tests.output.timelines import SEED, Story, build, read, tell_turn

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

pytestmark = [
    pytest.mark.skipif(webdriver is None, reason="the page is not opened: selenium is missing (pip install selenium)"),
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="the page is not opened: chromium or chromedriver is missing"),
    # selenium leaves its sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    # Containers have neither a sandbox for root nor a large /dev/shm.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        driver.quit()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the page of a session; afterwards, nothing may have been complained about or asked of anybody."""

    def open_it(folder: Path, width: int = 1280, height: int = 900) -> Any:
        path = tmp_path / "page.html"
        path.write_text(write_page(build(folder), read(folder).transcript), "utf-8", newline="\n")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(path.as_uri())
        return browser

    yield open_it
    assert browser.get_log("browser") == []
    assert [url for url in list_requests(browser) if not url.startswith(("file:", "data:"))] == []


def list_requests(browser: Any) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [found["params"] for found in messages if found["method"] == "Network.requestWillBeSent"]
    # The browser's own first tab asks for things, too, and may still do so.
    urls = [found["request"]["url"] for found in sent if found["documentURL"].startswith("file:")]
    assert urls, "the browser's own log of requests is empty"
    return urls


def select(browser: Any, selector: str) -> list[Any]:
    return browser.find_elements(By.CSS_SELECTOR, selector)


def find_bar(browser: Any, words: str) -> Any:
    return next(bar for bar in select(browser, ".bar") if bar.get_attribute("aria-label").startswith(words))


def measure(browser: Any, words: str) -> dict[str, float]:
    return find_bar(browser, words).find_element(By.CSS_SELECTOR, ".shape").rect


def list_picked_rows(browser: Any) -> list[int]:
    return [int(row.get_attribute("data-row")) for row in select(browser, "article.picked")]


def test_bars_are_drawn_where_they_belong(open_page: Callable[..., Any]) -> None:
    browser = open_page(SEED)
    assert len(select(browser, ".bar")) == 14
    slow, quick, delegate = (
        find_bar(browser, words).find_element(By.CSS_SELECTOR, ".shape").rect for words in ("Do the", "Are you", "delegate")
    )
    assert slow["width"] > 200 and slow["x"] < delegate["x"] < quick["x"]
    assert delegate["x"] + delegate["width"] <= slow["x"] + slow["width"] < quick["x"] + quick["width"]


def test_the_overlap_is_marked_and_seen(open_page: Callable[..., Any]) -> None:
    browser = open_page(SEED)
    (band,) = select(browser, ".band")
    slow, quick = measure(browser, "Do the"), measure(browser, "Are you")
    assert band.rect["x"] == pytest.approx(quick["x"], abs=3)
    assert band.rect["x"] + band.rect["width"] == pytest.approx(slow["x"] + slow["width"], abs=3)
    assert band.rect["width"] > 50 and band.value_of_css_property("fill") not in ("none", "rgb(0, 0, 0)")
    assert "overlap, confirmed" in [text.text for text in select(browser, ".bandtext")]
    assert len(select(browser, ".execution .shared")) == 2


def test_a_click_shows_the_rows_and_a_second_one_lets_go(open_page: Callable[..., Any]) -> None:
    browser = open_page(SEED, height=500)
    bar = find_bar(browser, "delegate").find_element(By.CSS_SELECTOR, ".back")
    bar.click()
    assert list_picked_rows(browser) == [4, 6, 12]
    first, frame = select(browser, "article.picked")[0].rect, select(browser, "#transcript")[0].rect
    assert frame["y"] <= first["y"] < frame["y"] + frame["height"]
    details = select(browser, "#details")[0].text
    assert "events 27-43" in details and "AD305 error: row 6" in details
    bar.click()
    assert list_picked_rows(browser) == [] and "Click a bar" in select(browser, "#details")[0].text


def test_rows_and_findings_show_their_bars(open_page: Callable[..., Any]) -> None:
    browser = open_page(SEED)
    select(browser, "article[data-row='10']")[0].click()
    picked = [bar.get_attribute("aria-label").splitlines()[0] for bar in select(browser, ".bar.picked")]
    assert picked == ["Are you there? Run something quick.", "bash toolu_0179…7be2"]
    select(browser, "summary")[0].click()
    next(item for item in select(browser, "#findings li") if "AD501" in item.text).click()
    assert {"Do the slow work with a delegate.", "Are you there? Run something quick."} <= {
        bar.get_attribute("aria-label").splitlines()[0] for bar in select(browser, ".bar.picked")
    }


def test_the_keyboard_does_it_too(open_page: Callable[..., Any]) -> None:
    browser = open_page(SEED)
    bar = find_bar(browser, "todo")
    bar.send_keys(Keys.ENTER)
    assert list_picked_rows(browser) == [4, 5, 11]
    bar.send_keys(Keys.ESCAPE)
    assert list_picked_rows(browser) == []


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_screen(open_page: Callable[..., Any], width: int) -> None:
    browser = open_page(SEED, width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    panes = [pane.rect for pane in select(browser, "main > section")]
    assert all(pane["height"] > 150 and pane["x"] + pane["width"] <= width for pane in panes)
    wide = browser.execute_script(
        "return [...document.querySelectorAll('article, #details, h1')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert wide == 0


def test_hostile_texts_are_only_texts(open_page: Callable[..., Any], tmp_path: Path) -> None:
    browser = open_page(tell_attacks().write(tmp_path))
    for bar in select(browser, ".bar")[:6]:
        bar.find_element(By.CSS_SELECTOR, ".back").click()
    assert browser.title == "time line of s"
    assert len(select(browser, "script")) == 1 and not select(browser, "img") and not select(browser, "article article")
    texts = [element.get_property("textContent") for element in select(browser, "article pre")]
    assert SCRIPT in texts and "&lt;b&gt; &amp; &#x3c;script&#x3e;" in texts
    assert "abc\\u202edlrow\\u202c \\u2066isolated\\u2069 \\u200fmark" in texts
    assert "line\\u2028separator\\u2029paragraph\\x85next" in texts
    assert "\\x1b[31mred\\x1b]0;title\\x07 \\x00nul \\x7f \\u200bzero \\ufeffmark" in texts
    labels = [element.get_property("textContent") for element in select(browser, ".execution .label")]
    assert SCRIPT in labels


def test_a_large_page_answers(open_page: Callable[..., Any], tmp_path: Path) -> None:
    story = Story()
    for number in range(1_000):
        tell_turn(story, 10 * number, f"turn {number}", number)
    browser = open_page(story.write(tmp_path))
    assert 100 < len(select(browser, ".bar")) <= 1_500
    select(browser, ".bar .back")[0].click()
    assert list_picked_rows(browser)
