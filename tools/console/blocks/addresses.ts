const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/** Any server: only the scheme of what is resolved against it counts. */
const SITE = 'https://site.invalid'

/**
 * The address if a click on it cannot run code: http, https, mailto, tel, or relative to the site. null for all others. The browser's own
 * parser decides, because it ignores tabs and line breaks in a scheme.
 */
export function safeAddress(address: unknown): string | null {
  if (typeof address !== 'string' || address.trim() === '' || !URL.canParse(address, SITE)) return null
  return SCHEMES.has(new URL(address, SITE).protocol) ? address : null
}

/** What a user typed, as an address: `example.org/a` without a scheme is meant as https, if it does not begin with `/` or `#`. */
export function completeAddress(typed: string): string | null {
  const address = typed.trim()
  if (address === '') return null
  if (/^[\w-]+(\.[\w-]+)+([/?#:].*)?$/.test(address)) return safeAddress(`https://${address}`)
  if (/^[^@\s/:]+@[^@\s/:]+$/.test(address)) return safeAddress(`mailto:${address}`)
  return safeAddress(address)
}
