import { definePolicy } from 'plinth'

export default definePolicy(() => false)
