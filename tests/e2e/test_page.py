"""The page in a real browser, as a person uses it: pointer, keyboard, and what it says to those who listen."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.inspection.pairs import SOURCE_WORDS, TARGET_WORDS, made_pair, pair_of_words
from translator.alignment.links import drop_last_column, merge_units
from translator.alignment.reading import LayerHeads, Reading
from translator.inspection.page.build import build_page
from translator.inspection.pair import PairAttention

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.expected_conditions import staleness_of  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

Open = Callable[..., Any]
HOSTILE = "<script>document.title='owned'</script> </script><img/src=x/onerror=alert(1)> &lt;b&gt; <b>x</b>"
HOSTILE += " \"'`${document.title=1}` a\u2028b\u2029c \\u003c"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window; its own driver, so that nothing is downloaded."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no Chromium with chromedriver here (on Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1280,1000"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    yield running
    running.quit()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page of pairs; afterwards the browser must have nothing to complain of."""

    def show(*pairs: PairAttention) -> Any:
        path = tmp_path / "page.html"
        path.write_text(build_page(pairs, "toy", ("en", "de")), encoding="utf-8")
        browser.get(path.as_uri())
        return browser

    yield show
    assert browser.get_log("browser") == []


def find(browser: Any, selector: str) -> Any:
    return browser.find_element(By.CSS_SELECTOR, selector)


def texts(browser: Any, selector: str) -> list[str]:
    return [e.get_property("textContent") for e in browser.find_elements(By.CSS_SELECTOR, selector)]


def status(browser: Any) -> str:
    """What is told of the links, without the marks that isolate names of another direction."""
    return find(browser, "#status").text.replace("\u2068", "").replace("\u2069", "")


def choose(browser: Any, **chosen: str) -> None:
    for name, value in chosen.items():
        find(browser, f"input[name={name}][value={value}]").click()


def point_at(browser: Any, element: Any) -> None:
    webdriver.ActionChains(browser, duration=0).move_to_element(element).perform()


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        browser.switch_to.active_element.send_keys(key)


def matrix(browser: Any) -> Tensor:
    """The enlarged weights, as they stand in the table."""
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#matrix tbody tr')]"
        ".map(row => [...row.querySelectorAll('td')].map(cell => Number(cell.textContent)))"
    )
    return torch.tensor(rows) / 100


def same(found: Tensor, expected: Tensor) -> bool:
    """Whether they are equal but for the table's rounding."""
    return found.shape == expected.shape and bool((found - expected).abs().max() <= 0.0051)


def words(pieces: Tensor) -> Tensor:
    """A cross-attention matrix (T, S + 1) of the pair made by hand, between words."""
    return merge_units(drop_last_column(pieces), SOURCE_WORDS, TARGET_WORDS, 3, 3)


def test_the_models_reading_is_shown_first(show: Open) -> None:
    pair = made_pair()
    browser = show(pair)
    assert find(browser, "#matrix-title").text == "Cross-attention, layer 1, head 1"
    assert same(matrix(browser), words(pair.layers[1][1][:-1]))
    assert find(browser, "#reading").get_attribute("aria-pressed") == "true"
    assert texts(browser, "#columns .word > span:first-child") == ["the", "dog", "barks"]
    assert texts(browser, "#rows .word > span:first-child") == ["der", "Hund", "bellt"]
    assert find(browser, "#rows").get_attribute("lang") == "de"
    assert browser.title == "Attention of toy"


def test_kinds_levels_and_steps_show_what_they_say(show: Open) -> None:
    pair = made_pair()
    browser = show(pair)
    mean = pair.layers[1].mean(dim=0)
    find(browser, ".tile[data-line='1'][data-place='0']").click()
    assert same(matrix(browser), words(mean[:-1]))
    choose(browser, step="input")
    assert same(matrix(browser), words(mean[1:]))
    choose(browser, level="pieces")
    assert same(matrix(browser), mean)
    assert texts(browser, "#matrix tbody th") == ["<s>", *pair.target_pieces[:-1]]
    choose(browser, step="output")
    assert same(matrix(browser), mean)
    assert texts(browser, "#matrix tbody th") == pair.target_pieces
    assert texts(browser, "#matrix thead th") == pair.source_pieces

    choose(browser, kind="decoder")
    assert same(matrix(browser), pair.decoder[1].mean(dim=0))
    assert texts(browser, "#matrix tbody th") == texts(browser, "#matrix thead th") == ["<s>", *pair.target_pieces[:-1]]
    assert not find(browser, "#step").is_displayed()
    choose(browser, level="words")
    units = [0, *(word + 1 for word in TARGET_WORDS)]
    assert same(matrix(browser), merge_units(pair.decoder[1].mean(dim=0), units, units, 4, 4))

    choose(browser, kind="encoder")
    units = [*SOURCE_WORDS, 3]
    assert find(browser, "#matrix-title").text == "Encoder self-attention, layer 0, mean of all heads"
    assert same(matrix(browser), merge_units(pair.encoder[0].mean(dim=0), units, units, 4, 4))
    assert texts(browser, "#matrix thead th") == ["the", "dog", "barks", "</s>"]
    find(browser, "#reading").click()
    assert find(browser, "#matrix-title").text == "Cross-attention, layer 1, head 1"


def test_heads_are_averaged_before_anything_else(show: Open) -> None:
    """As alignments are read; a mean of renormalised heads would differ."""
    pair = made_pair(Reading.at(0, (0, 2)))
    browser = show(pair)
    assert find(browser, "#matrix-title").text == "Cross-attention, layer 0, mean of heads 0, 2"
    assert same(matrix(browser), words(pair.layers[0][[0, 2]].mean(dim=0)[:-1]))


def test_a_reading_of_several_layers_has_a_row_of_its_own(show: Open) -> None:
    pair = made_pair(Reading((LayerHeads(0, (0, 1, 2)), LayerHeads(1, (0, 1)))))
    browser = show(pair)
    assert find(browser, "#matrix-title").text == "Cross-attention, mean of layers 0+1"
    assert same(matrix(browser), words(torch.cat(pair.layers).mean(dim=0)[:-1]))
    assert find(browser, "#reading").text == "Where alignments are read: mean of layers 0+1, as a word is written"
    assert find(browser, "#reading").get_attribute("aria-pressed") == "true"
    assert len(browser.find_elements(By.CSS_SELECTOR, ".tile")) == 4 + 3 + 1
    find(browser, ".tile[aria-label='Layer 1, head 0']").click()
    assert find(browser, "#reading").get_attribute("aria-pressed") == "false"
    find(browser, ".tile[aria-label='Mean of layers 0+1']").click()
    assert find(browser, "#reading").get_attribute("aria-pressed") == "true"
    choose(browser, kind="encoder")
    assert find(browser, "#matrix-title").text == "Encoder self-attention, layer 0, mean of all heads"


def test_a_tile_is_enlarged_by_click_and_by_keyboard(show: Open) -> None:
    pair = made_pair()
    browser = show(pair)
    assert len(browser.find_elements(By.CSS_SELECTOR, ".tile")) == 4 + 3
    find(browser, ".tile[aria-label='Layer 0, head 2']").click()
    assert find(browser, "#matrix-title").text == "Cross-attention, layer 0, head 2"
    assert same(matrix(browser), words(pair.layers[0][2][:-1]))
    assert texts(browser, ".tile[aria-pressed=true]") == [""]
    press(browser, Keys.ARROW_DOWN)  # the layer below has a head less
    assert browser.switch_to.active_element.get_attribute("aria-label") == "Layer 1, head 1"
    press(browser, Keys.HOME, Keys.ENTER)
    assert find(browser, "#matrix-title").text == "Cross-attention, layer 1, mean of all heads"
    assert browser.switch_to.active_element.get_attribute("aria-pressed") == "true"


def test_pointing_at_a_word_shows_its_links_both_ways(show: Open) -> None:
    pair = made_pair()
    browser = show(pair)
    weights = words(pair.layers[1][1][:-1])
    point_at(browser, find(browser, "#rows .word[data-row='1']"))
    best = int(weights[1].argmax())
    name = ["the", "dog", "barks"][best]
    assert status(browser).startswith(f"“Hund” looks at “{name}” {weights[1].max():.2f}")
    assert texts(browser, "#columns .share") == [f"{100 * w:.0f}" if w >= 0.05 else "" for w in weights[1].tolist()]
    assert texts(browser, "#rows .share") == ["", "", ""]
    assert len(browser.find_elements(By.CSS_SELECTOR, "#matrix td:not(.dim)[data-row='1']")) == 3
    assert len(browser.find_elements(By.CSS_SELECTOR, "#matrix td.dim")) == 6

    point_at(browser, find(browser, "#columns .word[data-column='2']"))
    assert status(browser).startswith("“barks” is looked at by ")
    assert texts(browser, "#rows .share") == [f"{100 * w:.0f}" if w >= 0.05 else "" for w in weights[:, 2].tolist()]
    assert texts(browser, "th.lit") == ["barks"]
    point_at(browser, find(browser, "h1"))
    assert status(browser).startswith("Strongest: ")
    assert browser.find_elements(By.CSS_SELECTOR, ".dim, .lit, .word.active") == []

    point_at(browser, find(browser, "#matrix td[data-row='0'][data-column='1']"))
    assert status(browser) == f"“der” looks at “dog” with a weight of {weights[0, 1]:.3f}."


def test_a_click_holds_a_word_and_escape_lets_go(show: Open) -> None:
    browser = show(made_pair())
    word = find(browser, "#rows .word[data-row='2']")
    word.click()
    point_at(browser, find(browser, "h1"))
    browser.execute_script("document.activeElement.blur()")
    assert status(browser).startswith("“bellt” looks at ")
    assert word.get_attribute("aria-pressed") == "true"
    find(browser, ".tile[aria-label='Layer 0, head 0']").click()
    assert status(browser).startswith("“bellt” looks at ")
    press(browser, Keys.ESCAPE)
    assert status(browser).startswith("Strongest: ")
    assert word.get_attribute("aria-pressed") == "false"


def test_all_of_it_is_reached_by_keyboard(show: Open) -> None:
    browser = show(made_pair())

    def tab() -> str:
        press(browser, Keys.TAB)
        element = browser.switch_to.active_element
        named = (element.get_attribute(kind) for kind in ("name", "id", "class"))
        return next(name for name in named if name).split()[0]

    assert [tab() for _ in range(4)] == ["kind", "level", "step", "word"]
    press(browser, Keys.END)
    assert status(browser).startswith("“barks” is looked at by ")
    press(browser, Keys.ARROW_LEFT)
    assert status(browser).startswith("“dog” is looked at by ")
    press(browser, Keys.SPACE)
    assert browser.switch_to.active_element.get_attribute("aria-pressed") == "true"
    assert tab() == "word"
    assert status(browser).startswith("“der” looks at ")
    assert [tab() for _ in range(4)] == ["tile", "reading", "numbers", "matrix-scroll"]


def test_text_is_shown_and_never_run(show: Open) -> None:
    browser = show(pair_of_words(HOSTILE, HOSTILE))
    assert browser.title == "Attention of toy"
    assert texts(browser, "#rows .word > span:first-child") == HOSTILE.split(" ")
    assert texts(browser, "#matrix thead th") == HOSTILE.split(" ")
    assert browser.find_elements(By.CSS_SELECTOR, "img") == []
    assert len(browser.find_elements(By.CSS_SELECTOR, "script")) == 2


def test_another_sentence_is_chosen(show: Open) -> None:
    browser = show(pair_of_words("a b c", "A B C"), pair_of_words("x y", "X Y", layers=2))
    assert texts(browser, "#sentence option") == ["1. a b c", "2. x y"]
    find(browser, ".tile[aria-label='Layer 0, head 1']").click()
    find(browser, "#sentence").send_keys("2")
    assert texts(browser, "#rows .word > span:first-child") == ["X", "Y"]
    assert find(browser, "#matrix-title").text == "Cross-attention, layer 0, head 1"
    assert matrix(browser).shape == (2, 2)
    assert len(browser.find_elements(By.CSS_SELECTOR, ".tile")) == 6


def test_one_sentence_needs_no_choice_and_numbers_show_when_asked(show: Open) -> None:
    browser = show(made_pair())
    assert not find(browser, "#sentence").is_displayed()
    cell = find(browser, "#matrix tbody td")
    assert cell.value_of_css_property("color") == "rgba(0, 0, 0, 0)"
    find(browser, "#numbers").click()
    assert cell.value_of_css_property("color") != "rgba(0, 0, 0, 0)"


def test_many_heads_and_words_are_seen_at_once(show: Open) -> None:
    long = " ".join(f"word{n}" for n in range(60))
    cut = "return [...document.querySelectorAll('#grid, .matrix-scroll')].map(box => box.scrollWidth - box.clientWidth)"
    assert show(pair_of_words(long, long, heads=8)).execute_script(cut) == [0, 0]
    assert show(pair_of_words("a b", "A B", heads=8)).execute_script(cut) == [0, 0]
    several = replace(pair_of_words("a b", "A B", heads=4, layers=4), reading=Reading.across([4] * 4, (1, 2, 3)))
    assert show(several).execute_script(cut) == [0, 0]


def test_a_long_pair_stays_readable(show: Open) -> None:
    long = " ".join(f"word{n}" for n in range(60))
    browser = show(pair_of_words(long, long.upper()))
    find(browser, "#numbers").click()  # makes room for them, and so the table wider than the page
    find(browser, ".matrix-scroll").location_once_scrolled_into_view  # noqa: B018
    browser.execute_script("document.querySelector('.matrix-scroll').scrollTo(700, 900)")
    inside = browser.execute_script(
        "const at = (selector) => document.querySelector(selector).getBoundingClientRect();"
        "const box = at('.matrix-scroll');"
        "return [at('tbody tr:nth-child(50) th').left - box.left, at('thead th:nth-child(40)').top - box.top]"
    )
    assert inside == pytest.approx([0, 0], abs=1)
    assert find(browser, "#matrix thead th:nth-child(40) span").size["height"] > 30
    assert find(browser, "#stage").get_attribute("class") == "stage dense wrapped"


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_itself_never_scrolls_sideways(show: Open, width: int) -> None:
    browser = show(pair_of_words("a " * 30 + "endless" * 40, "b " * 30, heads=8))
    set_up: dict[str, Any] = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", set_up)
    try:
        assert browser.execute_script("return document.scrollingElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_it_follows_the_readers_dark_theme(show: Open) -> None:
    browser = show(made_pair())
    read = "return [...document.querySelector('.tile canvas').getContext('2d').getImageData(0, 0, 1, 1).data]"
    light, painted = browser.execute_script(read), find(browser, ".tile canvas")
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        assert find(browser, "body").value_of_css_property("background-color") == "rgba(20, 23, 28, 1)"
        WebDriverWait(browser, 10).until(staleness_of(painted))  # it hears of the theme a moment later
        assert browser.execute_script(read)[2] > light[2] + 50
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
