/* SPDX-License-Identifier: MIT */
/* Papers that every workspace knows, newest first: ids, titles, authors, categories and days are
 * those of arXiv, the summaries are ours. */
#include "local/arxiv/paper.h"

/* clang-format off */
const struct arxiv_seed arxiv_seeds[] = {
    {"2312.00752v2", "2023-12-01", "cs.LG cs.AI",
     "Mamba: Linear-Time Sequence Modeling with Selective State Spaces",
     "Albert Gu; Tri Dao",
     "Makes the parameters of structured state space models depend on the input, with an "
     "algorithm for parallel hardware. The resulting architecture without attention scales "
     "linearly in length and matches Transformers twice its size in language modelling."},
    {"2310.06825v1", "2023-10-10", "cs.CL cs.AI cs.LG",
     "Mistral 7B",
     "Albert Q. Jiang; Alexandre Sablayrolles; Arthur Mensch; Chris Bamford; Devendra "
     "Singh Chaplot; Diego de las Casas; Florian Bressand; Gianna Lengyel; Guillaume "
     "Lample; Lucile Saulnier; Lélio Renard Lavaud; Marie-Anne Lachaux; Pierre Stock; "
     "Teven Le Scao; Thibaut Lavril; Thomas Wang; Timothée Lacroix; William El Sayed",
     "A language model of 7 billion parameters with grouped-query and sliding-window "
     "attention that exceeds Llama 2 with 13 billion on all benchmarks that were tried."},
    {"2310.06770v3", "2023-10-10", "cs.CL cs.AI cs.SE",
     "SWE-bench: Can Language Models Resolve Real-World GitHub Issues?",
     "Carlos E. Jimenez; John Yang; Alexander Wettig; Shunyu Yao; Kexin Pei; Ofir Press; "
     "Karthik Narasimhan",
     "A benchmark of 2294 problems from issues and pull requests of twelve Python "
     "repositories: a model gets the code and the issue and has to change the code. The "
     "best models of the time solved only a few of them."},
    {"2308.11432v7", "2023-08-22", "cs.AI cs.CL",
     "A Survey on Large Language Model based Autonomous Agents",
     "Lei Wang; Chen Ma; Xueyang Feng; Zeyu Zhang; Hao Yang; Jingsen Zhang; Zhiyuan Chen; "
     "Jiakai Tang; Xu Chen; Yankai Lin; Wayne Xin Zhao; Zhewei Wei; Ji-Rong Wen",
     "Reviews autonomous agents built on large language models: a common framework of "
     "their construction, their applications in social and natural science and "
     "engineering, and how they are evaluated."},
    {"2305.18290v3", "2023-05-29", "cs.LG cs.AI cs.CL",
     "Direct Preference Optimization: Your Language Model is Secretly a Reward Model",
     "Rafael Rafailov; Archit Sharma; Eric Mitchell; Stefano Ermon; Christopher D. "
     "Manning; Chelsea Finn",
     "Replaces reinforcement learning from human feedback by a simple classification loss "
     "on pairs of preferred and rejected answers, derived from a closed form of the "
     "optimal policy. It is stable, cheap and at least as good."},
    {"2305.14314v1", "2023-05-23", "cs.LG",
     "QLoRA: Efficient Finetuning of Quantized LLMs",
     "Tim Dettmers; Artidoro Pagnoni; Ari Holtzman; Luke Zettlemoyer",
     "Fine-tunes a model of 65 billion parameters on one 48 GB GPU by low-rank adapters "
     "over weights frozen in four bits, with a new data type, double quantization and "
     "paged optimizers."},
    {"2305.10601v2", "2023-05-17", "cs.CL cs.AI cs.LG",
     "Tree of Thoughts: Deliberate Problem Solving with Large Language Models",
     "Shunyu Yao; Dian Yu; Jeffrey Zhao; Izhak Shafran; Thomas L. Griffiths; Yuan Cao; "
     "Karthik Narasimhan",
     "Lets language models explore several paths of thought, judge them and go back, as a "
     "search in a tree. The game of 24, creative writing and small crosswords improve "
     "greatly."},
    {"2304.02643v1", "2023-04-05", "cs.CV cs.AI cs.LG",
     "Segment Anything",
     "Alexander Kirillov; Eric Mintun; Nikhila Ravi; Hanzi Mao; Chloe Rolland; Laura "
     "Gustafson; Tete Xiao; Spencer Whitehead; Alexander C. Berg; Wan-Yen Lo; Piotr "
     "Dollár; Ross Girshick",
     "A task, a model and a data set of a billion masks for segmentation by prompts. The "
     "model transfers to new kinds of images without training."},
    {"2303.18223v16", "2023-03-31", "cs.CL cs.AI",
     "A Survey of Large Language Models",
     "Wayne Xin Zhao; Kun Zhou; Junyi Li; Tianyi Tang; Xiaolei Wang; Yupeng Hou; Yingqian "
     "Min; Beichen Zhang; Junjie Zhang; Zican Dong; Yifan Du; Chen Yang; Yushuo Chen; "
     "Zhipeng Chen; Jinhao Jiang; Ruiyang Ren; Yifan Li; Xinyu Tang; Zikang Liu; Peiyu "
     "Liu; Jian-Yun Nie; Ji-Rong Wen",
     "A survey of large language models: pre-training, adaptation, use and evaluation of "
     "capacities, with the resources for building them and open questions."},
    {"2303.08774v6", "2023-03-15", "cs.CL cs.AI",
     "GPT-4 Technical Report",
     "OpenAI",
     "Reports on a large multimodal model that takes images and text and gives text. It "
     "does as well as people on many professional exams, among them a bar exam in the top "
     "tenth; its performance was predicted from much smaller models."},
    {"2302.13971v1", "2023-02-27", "cs.CL",
     "LLaMA: Open and Efficient Foundation Language Models",
     "Hugo Touvron; Thibaut Lavril; Gautier Izacard; Xavier Martinet; Marie-Anne Lachaux; "
     "Timothée Lacroix; Baptiste Rozière; Naman Goyal; Eric Hambro; Faisal Azhar; Aurelien "
     "Rodriguez; Armand Joulin; Edouard Grave; Guillaume Lample",
     "A collection of language models from 7 to 65 billion parameters trained on public "
     "data only. The one with 13 billion exceeds GPT-3 on most benchmarks, the largest "
     "competes with the best of its time."},
    {"2302.04761v1", "2023-02-09", "cs.CL",
     "Toolformer: Language Models Can Teach Themselves to Use Tools",
     "Timo Schick; Jane Dwivedi-Yu; Roberto Dessì; Roberta Raileanu; Maria Lomeli; Luke "
     "Zettlemoyer; Nicola Cancedda; Thomas Scialom",
     "A language model learns by itself when to call which API, with which arguments, and "
     "how to use the results: a calculator, a search engine, translation, a calendar. Only "
     "a handful of examples per API is needed."},
    {"2212.04356v1", "2022-12-06", "eess.AS cs.CL cs.LG cs.SD",
     "Robust Speech Recognition via Large-Scale Weak Supervision",
     "Alec Radford; Jong Wook Kim; Tao Xu; Greg Brockman; Christine McLeavey; Ilya "
     "Sutskever",
     "Trains Whisper on 680000 hours of transcribed audio from the internet in many "
     "languages. Without fine-tuning it comes close to the accuracy and robustness of "
     "people."},
    {"2210.03629v3", "2022-10-06", "cs.CL cs.AI cs.LG",
     "ReAct: Synergizing Reasoning and Acting in Language Models",
     "Shunyu Yao; Jeffrey Zhao; Dian Yu; Nan Du; Izhak Shafran; Karthik Narasimhan; Yuan "
     "Cao",
     "Lets language models write reasoning and actions in turns, so that they plan, look "
     "things up and correct themselves. It helps with question answering, fact checking "
     "and interactive decision tasks."},
    {"2205.14135v2", "2022-05-27", "cs.LG",
     "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
     "Tri Dao; Daniel Y. Fu; Stefano Ermon; Atri Rudra; Christopher Ré",
     "Computes exact attention in tiles so that far fewer reads and writes of the GPU's "
     "slow memory are needed. Transformers train faster and can have longer contexts."},
    {"2203.15556v1", "2022-03-29", "cs.CL cs.LG",
     "Training Compute-Optimal Large Language Models",
     "Jordan Hoffmann; Sebastian Borgeaud; Arthur Mensch; Elena Buchatskaya; Trevor Cai; "
     "Eliza Rutherford; Diego de Las Casas; Lisa Anne Hendricks; Johannes Welbl; Aidan "
     "Clark; Tom Hennigan; Eric Noland; Katie Millican; George van den Driessche; Bogdan "
     "Damoc; Aurelia Guy; Simon Osindero; Karen Simonyan; Erich Elsen; Jack W. Rae; Oriol "
     "Vinyals; Laurent Sifre",
     "Finds from over 400 training runs that model size and number of training tokens "
     "should grow in equal proportion. Chinchilla, with 70 billion parameters and four "
     "times more data, exceeds much larger models."},
    {"2203.02155v1", "2022-03-04", "cs.CL cs.AI cs.LG",
     "Training language models to follow instructions with human feedback",
     "Long Ouyang; Jeff Wu; Xu Jiang; Diogo Almeida; Carroll L. Wainwright; Pamela "
     "Mishkin; Chong Zhang; Sandhini Agarwal; Katarina Slama; Alex Ray; John Schulman; "
     "Jacob Hilton; Fraser Kelton; Luke Miller; Maddie Simens; Amanda Askell; Peter "
     "Welinder; Paul Christiano; Jan Leike; Ryan Lowe",
     "Fine-tunes GPT-3 with demonstrations and with reinforcement learning from human "
     "preferences. People prefer the answers of the resulting InstructGPT with 1.3 billion "
     "parameters to those of the original with 175 billion; truthfulness improves and "
     "toxicity falls."},
    {"2201.11903v6", "2022-01-28", "cs.CL cs.AI",
     "Chain-of-Thought Prompting Elicits Reasoning in Large Language Models",
     "Jason Wei; Xuezhi Wang; Dale Schuurmans; Maarten Bosma; Brian Ichter; Fei Xia; Ed "
     "Chi; Quoc Le; Denny Zhou",
     "Shows that a few examples with intermediate steps of reasoning in the prompt let "
     "sufficiently large language models solve arithmetic, commonsense and symbolic "
     "problems much better."},
    {"2112.10752v2", "2021-12-20", "cs.CV",
     "High-Resolution Image Synthesis with Latent Diffusion Models",
     "Robin Rombach; Andreas Blattmann; Dominik Lorenz; Patrick Esser; Björn Ommer",
     "Runs diffusion in the latent space of a pre-trained auto-encoder instead of pixels, "
     "and conditions it by cross-attention on text or layouts. Synthesis of images becomes "
     "much cheaper at the same quality."},
    {"2106.09685v2", "2021-06-17", "cs.CL cs.AI cs.LG",
     "LoRA: Low-Rank Adaptation of Large Language Models",
     "Edward J. Hu; Yelong Shen; Phillip Wallis; Zeyuan Allen-Zhu; Yuanzhi Li; Shean Wang; "
     "Lu Wang; Weizhu Chen",
     "Adapts large language models by training small matrices of low rank beside frozen "
     "weights. The number of trained parameters falls by orders of magnitude, quality "
     "stays, and inference is not slowed down."},
    {"2103.00020v1", "2021-02-26", "cs.CV cs.LG",
     "Learning Transferable Visual Models From Natural Language Supervision",
     "Alec Radford; Jong Wook Kim; Chris Hallacy; Aditya Ramesh; Gabriel Goh; Sandhini "
     "Agarwal; Girish Sastry; Amanda Askell; Pamela Mishkin; Jack Clark; Gretchen Krueger; "
     "Ilya Sutskever",
     "CLIP learns images and texts together by predicting which caption belongs to which "
     "image among 400 million pairs from the web. Its representations transfer to many "
     "vision tasks without any training examples of them."},
    {"2010.11929v2", "2020-10-22", "cs.CV cs.AI cs.LG",
     "An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale",
     "Alexey Dosovitskiy; Lucas Beyer; Alexander Kolesnikov; Dirk Weissenborn; Xiaohua "
     "Zhai; Thomas Unterthiner; Mostafa Dehghani; Matthias Minderer; Georg Heigold; "
     "Sylvain Gelly; Jakob Uszkoreit; Neil Houlsby",
     "Applies a plain Transformer to sequences of image patches. Pre-trained on large sets "
     "of images, the Vision Transformer matches or exceeds convolutional networks on "
     "recognition benchmarks with less computation."},
    {"2006.11239v2", "2020-06-19", "cs.LG stat.ML",
     "Denoising Diffusion Probabilistic Models",
     "Jonathan Ho; Ajay Jain; Pieter Abbeel",
     "Makes images of high quality by diffusion models, latent variable models that learn "
     "to reverse a gradual addition of noise. A weighted variational bound connects them "
     "with denoising score matching and Langevin dynamics."},
    {"2005.14165v4", "2020-05-28", "cs.CL",
     "Language Models are Few-Shot Learners",
     "Tom B. Brown; Benjamin Mann; Nick Ryder; Melanie Subbiah; Jared Kaplan; Prafulla "
     "Dhariwal; Arvind Neelakantan; Pranav Shyam; Girish Sastry; Amanda Askell; Sandhini "
     "Agarwal; Ariel Herbert-Voss; Gretchen Krueger; Tom Henighan; Rewon Child; Aditya "
     "Ramesh; Daniel M. Ziegler; Jeffrey Wu; Clemens Winter; Christopher Hesse; Mark Chen; "
     "Eric Sigler; Mateusz Litwin; Scott Gray; Benjamin Chess; Jack Clark; Christopher "
     "Berner; Sam McCandlish; Alec Radford; Ilya Sutskever; Dario Amodei",
     "Trains GPT-3, an autoregressive language model with 175 billion parameters, and "
     "measures how well it does tasks from a few examples in its prompt, without any "
     "change of its weights. Larger models learn better in context; limits, contamination "
     "of benchmarks and social effects are discussed."},
    {"2005.11401v4", "2020-05-22", "cs.CL cs.LG",
     "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
     "Patrick Lewis; Ethan Perez; Aleksandra Piktus; Fabio Petroni; Vladimir Karpukhin; "
     "Naman Goyal; Heinrich Küttler; Mike Lewis; Wen-tau Yih; Tim Rocktäschel; Sebastian "
     "Riedel; Douwe Kiela",
     "Combines a pre-trained generator with a dense index of Wikipedia from which passages "
     "are retrieved, both fine-tuned together. Open-domain question answering improves and "
     "generated text is more specific and factual."},
    {"2003.08934v2", "2020-03-19", "cs.CV cs.GR",
     "NeRF: Representing Scenes as Neural Radiance Fields for View Synthesis",
     "Ben Mildenhall; Pratul P. Srinivasan; Matthew Tancik; Jonathan T. Barron; Ravi "
     "Ramamoorthi; Ren Ng",
     "Represents a scene by a network from position and direction to density and colour, "
     "rendered as a volume and optimized from photographs, which gives new views of high "
     "quality."},
    {"2002.05709v3", "2020-02-13", "cs.LG cs.CV stat.ML",
     "A Simple Framework for Contrastive Learning of Visual Representations",
     "Ting Chen; Simon Kornblith; Mohammad Norouzi; Geoffrey Hinton",
     "SimCLR learns representations of images from pairs of augmented views without "
     "special architectures or a memory bank. Composition of augmentations, a projection "
     "head and large batches matter most."},
    {"2001.08361v1", "2020-01-23", "cs.LG stat.ML",
     "Scaling Laws for Neural Language Models",
     "Jared Kaplan; Sam McCandlish; Tom Henighan; Tom B. Brown; Benjamin Chess; Rewon "
     "Child; Scott Gray; Alec Radford; Jeffrey Wu; Dario Amodei",
     "The loss of language models falls as a power law of model size, data and computation "
     "over seven orders of magnitude, while other details of the architecture matter "
     "little. The laws tell how to spend a budget of computation."},
    {"1910.10683v4", "2019-10-23", "cs.LG cs.CL stat.ML",
     "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
     "Colin Raffel; Noam Shazeer; Adam Roberts; Katherine Lee; Sharan Narang; Michael "
     "Matena; Yanqi Zhou; Wei Li; Peter J. Liu",
     "Casts every language task as text to text and compares objectives, architectures, "
     "data sets and transfer methods in one frame. The lessons together with scale, and "
     "the corpus C4, give the T5 models."},
    {"1907.11692v1", "2019-07-26", "cs.CL",
     "RoBERTa: A Robustly Optimized BERT Pretraining Approach",
     "Yinhan Liu; Myle Ott; Naman Goyal; Jingfei Du; Mandar Joshi; Danqi Chen; Omer Levy; "
     "Mike Lewis; Luke Zettlemoyer; Veselin Stoyanov",
     "A replication of BERT that finds it was trained too little. With more data, larger "
     "batches, longer sequences and no next-sentence task it matches or exceeds all models "
     "published after it."},
    {"1906.08237v2", "2019-06-19", "cs.CL cs.LG",
     "XLNet: Generalized Autoregressive Pretraining for Language Understanding",
     "Zhilin Yang; Zihang Dai; Yiming Yang; Jaime Carbonell; Ruslan Salakhutdinov; Quoc V. "
     "Le",
     "Pre-trains autoregressively over permutations of the order of words, which gives "
     "bidirectional context without masks, and takes over ideas of Transformer-XL. It "
     "exceeded BERT on twenty tasks."},
    {"1905.11946v5", "2019-05-28", "cs.LG cs.CV stat.ML",
     "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
     "Mingxing Tan; Quoc V. Le",
     "Scales depth, width and resolution of networks together by one coefficient. A family "
     "of models found this way is several times smaller and faster than others of the same "
     "accuracy on ImageNet."},
    {"1812.04948v3", "2018-12-12", "cs.NE cs.LG stat.ML",
     "A Style-Based Generator Architecture for Generative Adversarial Networks",
     "Tero Karras; Samuli Laine; Timo Aila",
     "A generator that controls the style of images at each scale separates high-level "
     "attributes from random variation. A new data set of faces comes with it."},
    {"1810.04805v2", "2018-10-11", "cs.CL",
     "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
     "Jacob Devlin; Ming-Wei Chang; Kenton Lee; Kristina Toutanova",
     "Pre-trains a bidirectional Transformer encoder on unlabelled text by predicting "
     "masked words and whether one sentence follows another. Fine-tuned with one more "
     "layer it improved the best results on eleven tasks of language understanding, among "
     "them GLUE and SQuAD."},
    {"1807.06209v4", "2018-07-17", "astro-ph.CO",
     "Planck 2018 results. VI. Cosmological parameters",
     "Planck Collaboration",
     "Final cosmological parameters from the Planck measurements of the cosmic microwave "
     "background; they agree with the standard six-parameter model of a flat universe with "
     "cold dark matter and a cosmological constant."},
    {"1802.05365v2", "2018-02-15", "cs.CL",
     "Deep contextualized word representations",
     "Matthew E. Peters; Mark Neumann; Mohit Iyyer; Matt Gardner; Christopher Clark; "
     "Kenton Lee; Luke Zettlemoyer",
     "Represents words by functions of the internal states of a bidirectional language "
     "model (ELMo), so that they depend on their context. Added to existing models they "
     "improved six tasks of language understanding."},
    {"1801.00862v3", "2018-01-02", "quant-ph cond-mat.str-el",
     "Quantum Computing in the NISQ era and beyond",
     "John Preskill",
     "Discusses what noisy quantum computers of 50 to a few hundred qubits may be good "
     "for, and why they are a step towards fault-tolerant ones rather than an end."},
    {"1712.01815v1", "2017-12-05", "cs.AI cs.LG",
     "Mastering Chess and Shogi by Self-Play with a General Reinforcement Learning "
     "Algorithm",
     "David Silver; Thomas Hubert; Julian Schrittwieser; Ioannis Antonoglou; Matthew Lai; "
     "Arthur Guez; Marc Lanctot; Laurent Sifre; Dharshan Kumaran; Thore Graepel; Timothy "
     "Lillicrap; Karen Simonyan; Demis Hassabis",
     "AlphaZero learns chess, shogi and Go from their rules alone, by self-play and tree "
     "search guided by a network, and within a day plays each of them better than the "
     "strongest programs of the time."},
    {"1710.10903v3", "2017-10-30", "stat.ML cs.AI cs.LG cs.SI",
     "Graph Attention Networks",
     "Petar Veličković; Guillem Cucurull; Arantxa Casanova; Adriana Romero; Pietro Liò; "
     "Yoshua Bengio",
     "Layers in which nodes of a graph attend over their neighbours with different "
     "weights, without costly matrix operations and without knowing the graph in advance."},
    {"1707.06347v2", "2017-07-20", "cs.LG",
     "Proximal Policy Optimization Algorithms",
     "John Schulman; Filip Wolski; Prafulla Dhariwal; Alec Radford; Oleg Klimov",
     "A family of policy gradient methods for reinforcement learning that optimize a "
     "clipped surrogate objective over several epochs of minibatches. They are simpler "
     "than trust region methods and work as well on locomotion and Atari tasks."},
    {"1706.03762v7", "2017-06-12", "cs.CL cs.LG",
     "Attention Is All You Need",
     "Ashish Vaswani; Noam Shazeer; Niki Parmar; Jakob Uszkoreit; Llion Jones; Aidan N. "
     "Gomez; Lukasz Kaiser; Illia Polosukhin",
     "Introduces the Transformer, a network for sequence transduction that uses attention "
     "alone, without recurrence or convolution. It trains in parallel, set new best "
     "results in English-German and English-French machine translation at a fraction of "
     "the cost, and also parses English sentences well."},
    {"1704.04861v1", "2017-04-17", "cs.CV",
     "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications",
     "Andrew G. Howard; Menglong Zhu; Bo Chen; Dmitry Kalenichenko; Weijun Wang; Tobias "
     "Weyand; Marco Andreetto; Hartwig Adam",
     "Light networks of depthwise separable convolutions for phones and embedded devices, "
     "with two parameters by which latency is traded for accuracy."},
    {"1703.10593v7", "2017-03-30", "cs.CV",
     "Unpaired Image-to-Image Translation using Cycle-Consistent Adversarial Networks",
     "Jun-Yan Zhu; Taesung Park; Phillip Isola; Alexei A. Efros",
     "Learns to translate images between two domains without paired examples, by "
     "adversarial losses and the demand that a translation there and back gives the image "
     "again."},
    {"1703.06870v3", "2017-03-20", "cs.CV",
     "Mask R-CNN",
     "Kaiming He; Georgia Gkioxari; Piotr Dollár; Ross Girshick",
     "Extends Faster R-CNN by a branch that predicts a mask for each object. It is simple "
     "to train, adds little cost, and won all three tracks of the COCO challenge of its "
     "year."},
    {"1703.03400v3", "2017-03-09", "cs.LG cs.AI cs.CV cs.NE",
     "Model-Agnostic Meta-Learning for Fast Adaptation of Deep Networks",
     "Chelsea Finn; Pieter Abbeel; Sergey Levine",
     "Trains the initial parameters of any model so that a few gradient steps on little "
     "data of a new task generalize well, for regression, classification and reinforcement "
     "learning."},
    {"1609.02907v4", "2016-09-09", "cs.LG stat.ML",
     "Semi-Supervised Classification with Graph Convolutional Networks",
     "Thomas N. Kipf; Max Welling",
     "A convolution on graphs, a first-order approximation of spectral filters, classifies "
     "nodes of citation and knowledge graphs from few labels, in time linear in the number "
     "of edges."},
    {"1608.06993v5", "2016-08-25", "cs.CV cs.LG",
     "Densely Connected Convolutional Networks",
     "Gao Huang; Zhuang Liu; Laurens van der Maaten; Kilian Q. Weinberger",
     "Connects each layer of a convolutional network to all later ones. Gradients flow "
     "better, features are used again, and fewer parameters suffice for the same accuracy."},
    {"1607.06450v1", "2016-07-21", "stat.ML cs.LG",
     "Layer Normalization",
     "Jimmy Lei Ba; Jamie Ryan Kiros; Geoffrey E. Hinton",
     "Normalizes over the units of a layer for each training case, the same in training "
     "and in test, which suits recurrent networks and shortens training."},
    {"1602.03837v1", "2016-02-11", "gr-qc astro-ph.HE",
     "Observation of Gravitational Waves from a Binary Black Hole Merger",
     "The LIGO Scientific Collaboration; the Virgo Collaboration",
     "Reports the first direct detection of gravitational waves, by both LIGO detectors on "
     "14 September 2015: the signal of two black holes of about 36 and 29 solar masses "
     "that merged about 1.3 billion light years away."},
    {"1512.03385v1", "2015-12-10", "cs.CV",
     "Deep Residual Learning for Image Recognition",
     "Kaiming He; Xiangyu Zhang; Shaoqing Ren; Jian Sun",
     "Lets the layers of a network learn residual functions with shortcut connections "
     "around them, so that networks of 152 layers can be trained. Ensembles of residual "
     "networks won the ImageNet classification challenge of 2015 and the COCO detection "
     "and segmentation tasks."},
    {"1506.02640v5", "2015-06-08", "cs.CV",
     "You Only Look Once: Unified, Real-Time Object Detection",
     "Joseph Redmon; Santosh Divvala; Ross Girshick; Ali Farhadi",
     "Frames object detection as one regression from the whole image to boxes and class "
     "probabilities, done by one network in real time, 45 frames a second."},
    {"1506.01497v3", "2015-06-04", "cs.CV",
     "Faster R-CNN: Towards Real-Time Object Detection with Region Proposal Networks",
     "Shaoqing Ren; Kaiming He; Ross Girshick; Jian Sun",
     "Introduces a region proposal network that shares its convolutional features with the "
     "detector, so that proposals cost almost nothing. Detection runs at five frames a "
     "second with the best accuracy of its time."},
    {"1505.04597v1", "2015-05-18", "cs.CV",
     "U-Net: Convolutional Networks for Biomedical Image Segmentation",
     "Olaf Ronneberger; Philipp Fischer; Thomas Brox",
     "A convolutional network with a contracting path for context and an expanding path "
     "for exact localization segments microscopy images after training on few annotated "
     "ones, helped by strong data augmentation."},
    {"1503.02531v1", "2015-03-09", "stat.ML cs.LG cs.NE",
     "Distilling the Knowledge in a Neural Network",
     "Geoffrey Hinton; Oriol Vinyals; Jeff Dean",
     "Compresses the knowledge of an ensemble into one model that is easier to deploy by "
     "training it on the ensemble's softened outputs; shown on MNIST and a commercial "
     "acoustic model."},
    {"1502.03167v3", "2015-02-11", "cs.LG",
     "Batch Normalization: Accelerating Deep Network Training by Reducing Internal "
     "Covariate Shift",
     "Sergey Ioffe; Christian Szegedy",
     "Normalizes the inputs of layers over each mini-batch as a part of the network. "
     "Training tolerates higher learning rates and careless initialization, needs many "
     "times fewer steps, and sometimes no dropout."},
    {"1412.6980v9", "2014-12-22", "cs.LG",
     "Adam: A Method for Stochastic Optimization",
     "Diederik P. Kingma; Jimmy Ba",
     "Presents Adam, a method of first-order stochastic gradient optimization with step "
     "sizes that adapt to estimates of the first and second moments of the gradients. It "
     "needs little memory and little tuning, and a variant for the infinity norm, AdaMax, "
     "is given."},
    {"1409.3215v3", "2014-09-10", "cs.CL cs.LG",
     "Sequence to Sequence Learning with Neural Networks",
     "Ilya Sutskever; Oriol Vinyals; Quoc V. Le",
     "Maps one sequence to another with two deep LSTM networks, an encoder into a vector "
     "and a decoder out of it, and applies it to translation from English to French. "
     "Reversing the words of the source makes training easier."},
    {"1409.1556v6", "2014-09-04", "cs.CV",
     "Very Deep Convolutional Networks for Large-Scale Image Recognition",
     "Karen Simonyan; Andrew Zisserman",
     "Studies how depth affects accuracy with networks of small 3x3 filters and 16 to 19 "
     "layers, which took first and second place in ImageNet localization and "
     "classification in 2014."},
    {"1409.0473v7", "2014-09-01", "cs.CL cs.LG cs.NE stat.ML",
     "Neural Machine Translation by Jointly Learning to Align and Translate",
     "Dzmitry Bahdanau; Kyunghyun Cho; Yoshua Bengio",
     "Extends encoder-decoder translation by letting the decoder search softly for the "
     "parts of the source sentence that matter for the next word, which became known as "
     "attention. Long sentences are translated much better."},
    {"1406.2661v1", "2014-06-10", "stat.ML cs.LG",
     "Generative Adversarial Networks",
     "Ian J. Goodfellow; Jean Pouget-Abadie; Mehdi Mirza; Bing Xu; David Warde-Farley; "
     "Sherjil Ozair; Aaron Courville; Yoshua Bengio",
     "Proposes to train a generative model against a discriminator that learns to tell its "
     "samples from real data, a minimax game of two players. At its solution the generator "
     "has the distribution of the data; both can be networks trained by backpropagation."},
    {"1312.6114v11", "2013-12-20", "stat.ML cs.LG",
     "Auto-Encoding Variational Bayes",
     "Diederik P. Kingma; Max Welling",
     "Shows how to do variational inference with continuous latent variables by stochastic "
     "gradients: a reparameterization of the lower bound makes it differentiable. A "
     "recognition network trained together with the model gives the variational "
     "auto-encoder."},
    {"1312.5602v1", "2013-12-19", "cs.LG",
     "Playing Atari with Deep Reinforcement Learning",
     "Volodymyr Mnih; Koray Kavukcuoglu; David Silver; Alex Graves; Ioannis Antonoglou; "
     "Daan Wierstra; Martin Riedmiller",
     "Trains a convolutional network by a variant of Q-learning with replay of experience "
     "to play seven Atari games from their pixels, better than earlier methods on six of "
     "them and than a human expert on three."},
    {"1301.3781v3", "2013-01-16", "cs.CL",
     "Efficient Estimation of Word Representations in Vector Space",
     "Tomas Mikolov; Kai Chen; Greg Corrado; Jeffrey Dean",
     "Gives two simple network architectures, continuous bag of words and skip-gram, that "
     "learn vectors of words from very large texts at low cost. The vectors capture "
     "syntactic and semantic similarity, as a test of analogies shows."},
    {"1207.7214v2", "2012-07-31", "hep-ex",
     "Observation of a new particle in the search for the Standard Model Higgs boson with "
     "the ATLAS detector at the LHC",
     "ATLAS Collaboration",
     "Reports a new neutral boson with a mass of 126.0 GeV at a significance of 5.9 "
     "standard deviations, compatible with the Higgs boson of the Standard Model."},
    {"1207.7235v2", "2012-07-31", "hep-ex",
     "Observation of a new boson at a mass of 125 GeV with the CMS experiment at the LHC",
     "CMS Collaboration",
     "Reports an excess of events near a mass of 125 GeV with a local significance of 5.0 "
     "standard deviations in the search for the Higgs boson, strongest in the decays to "
     "two photons and to two Z bosons."},
    {"math/0211159v1", "2002-11-11", "math.DG",
     "The entropy formula for the Ricci flow and its geometric applications",
     "Grisha Perelman",
     "Gives a monotonic entropy for the Ricci flow and rules out local collapsing, a step "
     "of the proof of the geometrization and Poincaré conjectures."},
    {"astro-ph/9812133v1", "1998-12-08", "astro-ph",
     "Measurements of Omega and Lambda from 42 High-Redshift Supernovae",
     "S. Perlmutter; G. Aldering; G. Goldhaber; R. A. Knop; P. Nugent; P. G. Castro; S. "
     "Deustua; S. Fabbro; A. Goobar; D. E. Groom; the Supernova Cosmology Project",
     "Distances of 42 type Ia supernovae show that the expansion of the universe "
     "accelerates, evidence for a positive cosmological constant."},
    {"hep-th/9711200v3", "1997-11-27", "hep-th",
     "The Large N Limit of Superconformal Field Theories and Supergravity",
     "Juan M. Maldacena",
     "Conjectures that string theory on anti-de Sitter space times a compact space is dual "
     "to a conformal field theory on its boundary, the AdS/CFT correspondence."},
    {"quant-ph/9508027v2", "1995-08-30", "quant-ph",
     "Polynomial-Time Algorithms for Prime Factorization and Discrete Logarithms on a "
     "Quantum Computer",
     "Peter W. Shor",
     "Shows that a quantum computer factors integers and finds discrete logarithms in "
     "polynomial time, two problems on which cryptography rests."},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};
