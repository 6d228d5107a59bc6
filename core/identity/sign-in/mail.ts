export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}
