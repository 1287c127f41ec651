import * as t from 'io-ts';
import { FieldProblem } from '../frame/envelope.ts';

/** What is wrong with an input, field by field, in an answer that is no error. */
export const FieldProblems = t.readonlyArray(FieldProblem);
