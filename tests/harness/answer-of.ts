import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  refusalResponse,
} from '../../core/faults/http-exchange.ts'

/** The answer of a responder, as the listener sends it: a thrown refusal becomes its response. */
export async function answerOf(responder: Responder, request: HttpRequest): Promise<HttpResponse | null> {
  try {
    return await responder(request)
  } catch (error) {
    return refusalResponse(error)
  }
}
