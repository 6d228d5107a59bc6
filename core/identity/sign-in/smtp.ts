import type { Mail } from './mail.ts'

export interface SmtpTerms {
  /** `smtp://user:password@host:587`, or smtps://. A secret: never printed. */
  readonly url: string
  readonly from: string
  /** Milliseconds that a mail may take in all. */
  readonly within: number
}

/** Sends a mail. Rejects where the server refuses it, is away, or has not taken it in time: then it is hung up on. */
export async function sendMail({ to, subject, text }: Mail, { url, from, within }: SmtpTerms): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    ...(needsTls(url) && { requireTLS: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const signal = AbortSignal.timeout(within)
  // As an object, an address is no list of several.
  const mail = { from, to: { name: '', address: to }, subject, text, signal }
  await transport.sendMail(mail).catch((reason: unknown) => {
    throw signal.aborted ? new Error(`it was not taken within ${within / 1000} s`) : reason
  })
}

/** Names and passwords go over open networks encrypted, or not at all. */
function needsTls(url: string): boolean {
  const { username, hostname, searchParams } = new URL(url)
  return username !== '' && !LOOPBACK.test(hostname) && !searchParams.has('ignoreTLS')
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/i
