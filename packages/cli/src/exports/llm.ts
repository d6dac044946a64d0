export * from '@isthmus/sdk/llm';
