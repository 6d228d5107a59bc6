const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/** Base of relative URLs; only the scheme of the result is used. */
const SITE = 'https://site.invalid'

/**
 * The URL if a click on it cannot run code: http, https, mailto, tel or relative. null for all others. The URL parser of the browser is
 * used because it ignores tabs and line breaks in a scheme, which a pattern would miss.
 */
export function safeAddress(address: unknown): string | null {
  if (typeof address !== 'string' || address.trim() === '' || !URL.canParse(address, SITE)) return null
  return SCHEMES.has(new URL(address, SITE).protocol) ? address : null
}

/** The URL of a user's input: `example.org/a` becomes https, `a@example.org` mailto. null: not a safe URL. */
export function completeAddress(typed: string): string | null {
  const address = typed.trim()
  if (address === '') return null
  if (/^[\w-]+(\.[\w-]+)+([/?#:].*)?$/.test(address)) return safeAddress(`https://${address}`)
  if (/^[^@\s/:]+@[^@\s/:]+$/.test(address)) return safeAddress(`mailto:${address}`)
  return safeAddress(address)
}
