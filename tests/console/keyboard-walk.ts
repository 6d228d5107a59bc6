import type { Browser } from '../harness/browser.ts'

/** Presses for each stop that is expected: the parts of a time are stops, and so are regions that scroll. */
const PRESSES = 6

/**
 * Goes through the page, or the dialog that is open, with the Tab key. Answers what it cannot reach, where the focus is not visible or
 * covered (WCAG 2.2: 2.1.1, 2.1.2, 2.4.7, 2.4.11).
 */
export async function walkByTab(browser: Browser): Promise<readonly string[]> {
  const expected = Number(await browser.evaluate(START))
  for (let press = 0; press < expected * PRESSES; press++) {
    await browser.press('Tab')
    if (await browser.evaluate(LOOK)) break
  }
  return (await browser.evaluate(FINISH)) as readonly string[]
}

/** One radio button of a group has the focus of the Tab key. */
const START = `(() => {
  const frame = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  const named = element => element.outerHTML.slice(0, 120)
  const stops = [...frame.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(
    each => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({ visibilityProperty: true })
      && !(each.type === 'radio' && !each.checked))
  window.walk = { stops, visited: new Set(), faults: [], last: null, named }
  document.activeElement.blur()
  getSelection().removeAllRanges()
  return stops.length
})()`

/** True when the walk is around. */
const LOOK = `(() => {
  const { visited, faults, last, named } = window.walk
  const element = document.activeElement
  window.walk.last = element
  if (element === last) return false
  // Between the last stop and the first one.
  if (element === document.body) return false
  if (visited.has(element)) return true
  visited.add(element)
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) faults.push('focus not visible: ' + named(element))
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const xs = [left + 2, (left + right) / 2, right - 2]
  const ys = [top + 2, (top + bottom) / 2, bottom - 2]
  const seen = xs.flatMap(x => ys.map(y => document.elementFromPoint(x, y)))
    .some(found => found && (element.contains(found) || found.contains(element) && found.closest('label')))
  if (!seen) faults.push('focus covered: ' + named(element))
  return false
})()`

const FINISH = `(() => {
  const { stops, visited, faults, named } = window.walk
  const missed = stops.filter(stop => stop.isConnected && !visited.has(stop))
  return [...faults, ...missed.map(stop => 'not reached: ' + named(stop))]
})()`
